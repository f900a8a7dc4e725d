import { parseWith } from '../../modules/authoring/standard-schema.ts';
import type { InputRequest } from '../../domain/call/input.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { findFormProblems } from './check-form.ts';
import { copyJson } from './copy-json.ts';
import { findChanges } from './find-changes.ts';

export type CheckedResponse =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** The form's schema changed the answer, so the tool would get something that no person saw. */
  | { readonly kind: 'changed'; readonly changes: readonly string[] }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const MAX_ROOTS = 1000;

/**
 * Checks whether a response answers this request. The sender is not trusted. `schema` is the tool author's own, whose code may check more.
 */
export function checkResponse(request: InputRequest, schema: unknown, response: JsonValue): CheckedResponse {
  if (!isJsonObject(response)) return problems('it is not an object');
  switch (request.kind) {
    case 'elicit':
      return checkForm(request.schema, schema, response);
    case 'elicit-url':
      return isAction(response['action']) ? answer({ action: response['action'] }) : problems(NO_ACTION);
    case 'sample':
      return checkSample(response);
    case 'roots':
      return checkRoots(response['roots']);
  }
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];
const NO_ACTION = 'its action is none of accept, decline and cancel';

function isAction(action: JsonValue | undefined): action is string {
  return ACTIONS.includes(action);
}

function checkForm(published: JsonObject, schema: unknown, { action, content }: JsonObject): CheckedResponse {
  if (!isAction(action)) return problems(NO_ACTION);
  if (action !== 'accept') return answer({ action });
  if (content === undefined || !isJsonObject(content)) return problems('its content is not an object');
  const found = findFormProblems(published, content);
  if (found.length > 0) return problems(...found);
  const asked = askedOf(published, content);
  const parsed = parseWith(schema, copyJson(asked));
  if (parsed instanceof Promise) throw new TypeError('ctx.requestInput: the schema of a form must not be asynchronous');
  if (parsed.kind === 'issues') return problems(...parsed.problems);
  const changes = findChanges(asked, parsed.value);
  return changes.length > 0 ? { kind: 'changed', changes } : answer({ action, content: asked });
}

/** The fields that the form asked for, with its published defaults. Other members never reach the tool. */
function askedOf({ properties = {} }: JsonObject, content: JsonObject): JsonObject {
  const fields = isJsonObject(properties) ? properties : {};
  const asked: JsonObject = {};
  for (const [name, value] of Object.entries(content)) if (Object.hasOwn(fields, name)) asked[name] = value;
  for (const [name, field] of Object.entries(fields)) {
    const value = isJsonObject(field) ? field['default'] : undefined;
    if (value !== undefined && !Object.hasOwn(asked, name)) asked[name] = copyJson(value);
  }
  return asked;
}

function checkSample({ role, content, model, stopReason }: JsonObject): CheckedResponse {
  const parts = Array.isArray(content) ? content : [content];
  if (
    typeof role !== 'string' ||
    content === undefined ||
    !parts.every((part) => part !== undefined && isJsonObject(part))
  )
    return problems('it is no message of a model');
  const texts = parts.map((part) => (part as JsonObject)['text']).filter((text) => typeof text === 'string');
  return answer({
    role,
    text: texts.join(''),
    content,
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof stopReason === 'string' ? { stopReason } : {}),
  });
}

function checkRoots(roots: JsonValue | undefined): CheckedResponse {
  if (!Array.isArray(roots) || roots.length > MAX_ROOTS) return problems(`it has no list of up to ${MAX_ROOTS} roots`);
  if (!roots.every((root) => isJsonObject(root) && typeof root['uri'] === 'string'))
    return problems('a root has no URI');
  const named = (roots as JsonObject[]).map(({ uri, name }) => ({
    uri,
    ...(typeof name === 'string' ? { name } : {}),
  }));
  return answer({ roots: named });
}

function answer(value: unknown): CheckedResponse {
  return { kind: 'answer', answer: value };
}

function problems(...found: string[]): CheckedResponse {
  return { kind: 'problems', problems: found };
}
