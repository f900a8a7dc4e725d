/**
 * Whether all members of an object are its own, enumerable and named by text. Other members are lost when a definition is copied or
 * checked. If a `privileged: true` that is inherited from a base class were lost, every agent could call a tool that its author wants to
 * restrict.
 */
export function isPlainObject(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Reflect.ownKeys(object).every(
    (key) => typeof key === 'string' && Object.prototype.propertyIsEnumerable.call(object, key),
  );
}

export const NOT_PLAIN = 'is not a plain object: its members must be its own and enumerable';

/** A frozen copy, for the functions that make definitions. Throws if a copy would lose members. */
export function copyPlain(options: object, maker: string): object {
  if (!isPlainObject(options)) throw new TypeError(`What ${maker}({ … }) was given ${NOT_PLAIN}.`);
  return Object.freeze({ ...options });
}
