import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { PromptArgument } from '../../domain/tool/surface.ts';
import { URI_LIMITS } from '../../base/uri-template.ts';
import { deriveJsonSchema } from './json-schema.ts';
import type { PromptDefinition, ResourceDefinition } from './define-surfaces.ts';

/** Schema of a request for completions. A call of a resource or prompt either uses it or asks for completions of one of its arguments. */
const COMPLETE: JsonObject = {
  type: 'object',
  properties: {
    argument: { type: 'string', maxLength: 128 },
    value: { type: 'string', maxLength: 4096 },
    known: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 100 },
  },
  required: ['argument', 'value'],
  additionalProperties: false,
};

export function resourceSchema(definition: ResourceDefinition): JsonObject {
  const { uriTemplate } = definition;
  const uses = uriTemplate === undefined ? {} : { uri: { type: 'string', maxLength: URI_LIMITS.uriLength } };
  return callSchema(uses, uriTemplate === undefined ? [] : ['uri'], definition.complete !== undefined);
}

/**
 * The input schema of a prompt's entry. Throws what `deriveJsonSchema` throws, and TypeError for a schema that cannot be nested in another
 * one.
 */
export function promptSchema(definition: PromptDefinition): JsonObject {
  if (definition.arguments === undefined) return callSchema({}, [], definition.complete !== undefined);
  const { $defs, ...schema } = deriveJsonSchema(definition.arguments);
  if (schema['type'] !== 'object') throw new TypeError('its root type is not "object"');
  if (refersElsewhere(schema) || ($defs !== undefined && refersElsewhere($defs)))
    throw new TypeError('it refers to something that is not in its $defs');
  const isAsked = Array.isArray(schema['required']) && schema['required'].length > 0;
  // Absent arguments are the same as empty ones, so that the defaults of their members are filled in.
  const asked = isAsked ? schema : { ...schema, default: {} };
  const made = callSchema({ arguments: asked }, isAsked ? ['arguments'] : [], definition.complete !== undefined);
  return $defs === undefined ? made : { ...made, $defs };
}

/** The arguments that a person is asked for, in the order of the schema. */
export function promptArguments(schema: JsonObject): PromptArgument[] {
  const { arguments: asked } = schema['properties'] as JsonObject;
  if (!isJsonObject(asked) || !isJsonObject(asked['properties'])) return [];
  const required = Array.isArray(asked['required']) ? asked['required'] : [];
  return Object.entries(asked['properties']).map(([name, about]) => {
    const { title, description } = isJsonObject(about) ? about : ({} as JsonObject);
    return {
      name,
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      required: required.includes(name),
    };
  });
}

function callSchema(uses: JsonObject, required: string[], completes: boolean): JsonObject {
  const object = { type: 'object', additionalProperties: false };
  if (!completes) return { ...object, properties: uses, ...(required.length === 0 ? {} : { required }) };
  return {
    ...object,
    properties: { ...uses, complete: COMPLETE },
    ...(required.length === 0 ? {} : { anyOf: [{ required }, { required: ['complete'] }] }),
  };
}

/**
 * Whether a schema has references to places outside `$defs`. They would break, because the schema is nested one level deeper; `$defs` stays
 * at the root.
 */
function refersElsewhere(node: JsonValue): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some(refersElsewhere);
  const { $ref, $dynamicRef } = node;
  if (typeof $dynamicRef === 'string' || (typeof $ref === 'string' && !$ref.startsWith('#/$defs/'))) return true;
  return Object.values(node).some(refersElsewhere);
}
