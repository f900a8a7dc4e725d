import type { JsonObject, JsonValue } from '../../base/json.ts';
import { isSecretKey } from './secret-words.ts';

/** Members that hold the name of a header next to its value. */
const NAME_MEMBERS = ['name', 'key', 'header'];
const FLAG = /^--?[A-Za-z][A-Za-z0-9_-]*$/;
const LOGIN_FLAG = /^(?:-u|--user|--proxy-user)$/;

/** Whether `value` of this object is a secret because of the name in another member: `{ name: 'Authorization', value: … }`. */
export function namesSecret(object: JsonObject): boolean {
  return NAME_MEMBERS.some((name) => isSecretName(Object.hasOwn(object, name) ? object[name] : undefined));
}

/** True for a text if the element before it names a secret. A list can be a command, word by word, or a header and its value. */
export function isFlagValue(list: readonly JsonValue[], index: number): boolean {
  const [before, item] = [list[index - 1], list[index]];
  if (typeof before !== 'string' || typeof item !== 'string') return false;
  const isPair = list.length === 2 && isSecretName(before);
  return isPair || (FLAG.test(before) && isSecretKey(before) && !item.startsWith('-'));
}

/** True for `user:password` after `-u`. Two numbers are a user id and a group id, and are not masked. */
export function isLogin(list: readonly JsonValue[], index: number): boolean {
  const [before, item] = [list[index - 1], list[index]];
  if (typeof before !== 'string' || typeof item !== 'string') return false;
  return LOGIN_FLAG.test(before) && item.includes(':') && !/^[0-9:]+$/.test(item);
}

function isSecretName(value: JsonValue | undefined): boolean {
  return (
    typeof value === 'string' && value.length <= 64 && /^[A-Za-z][A-Za-z0-9_-]*$/.test(value) && isSecretKey(value)
  );
}
