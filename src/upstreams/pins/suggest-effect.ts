import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import { findContradiction } from './name-words.ts';

export interface SuggestedEffect {
  readonly effect: Effect;
  /** One sentence for the operator who decides. */
  readonly because: string;
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/**
 * Suggests the effect of a tool from the annotations of its server. A stranger wrote them, so this is only a default for an operator, and
 * anything unclear is `unsafe`: a wrong `read` or `idempotent` makes Sallyport run a lost call again.
 */
export function suggestEffect(body: JsonObject): SuggestedEffect {
  const { annotations } = body;
  if (!isJsonObject(annotations)) return unsafe('The server does not say what the tool changes.');
  const [wrong] = HINTS.filter((name) => !['boolean', 'undefined'].includes(typeof annotations[name]));
  if (wrong !== undefined) return unsafe(`The annotation ${wrong} is neither true nor false.`);
  const [readOnly, destructive, idempotent] = HINTS.map((name) => annotations[name]);
  if (readOnly === true && destructive === true) return unsafe('The server says both read-only and destructive.');
  if (readOnly === true && idempotent === false) return unsafe('The server says both read-only and not idempotent.');
  const contradiction = findContradiction(body);
  if (contradiction !== undefined) {
    const { word, member } = contradiction;
    return unsafe(`The server says that the tool is harmless, but its ${member} says "${word}".`);
  }
  if (readOnly === true) return { effect: 'read', because: 'The server says that the tool only reads.' };
  if (idempotent === true && destructive === false) {
    return {
      effect: 'idempotent',
      because: 'The server says that a second run changes nothing more and destroys nothing.',
    };
  }
  if (idempotent === true) return unsafe('The server does not rule out that the tool destroys data.');
  return unsafe('The server does not say that a second run is harmless.');
}

function unsafe(because: string): SuggestedEffect {
  return { effect: 'unsafe', because };
}
