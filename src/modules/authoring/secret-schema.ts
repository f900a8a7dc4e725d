/** The methods of schema libraries with metadata; zod 4 has them. */
interface WithMeta<Schema> {
  meta(): Record<string, unknown> | undefined;
  meta(facts: Record<string, unknown>): Schema;
}

/**
 * Marks a part of an input schema as secret: the tool gets the value, but audit, approvals and logs show a mark in its place. In plain JSON
 * Schema write `"x-secret": true`.
 */
export function secret<Schema extends WithMeta<Schema>>(schema: Schema): Schema {
  if (typeof (schema as Partial<WithMeta<Schema>>).meta !== 'function')
    throw new TypeError('secret() takes a zod schema; in JSON Schema write "x-secret": true');
  return schema.meta({ ...schema.meta(), 'x-secret': true });
}
