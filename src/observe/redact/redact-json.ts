import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { isHarmless } from './find-assignments.ts';
import { isFlagValue, isLogin, namesSecret } from './list-secrets.ts';
import { maskText, type Mask } from './mask-text.ts';
import type { SchemaPlace } from './schema-secrets.ts';
import { isSecretKey } from './secret-words.ts';

/** A copy of a value in which secrets are masked: those that its schema declares, and those found by the names of members or by their shape. */
export function redactJson(
  value: JsonValue,
  schema: SchemaPlace | undefined,
  mask: Mask,
  onMasked?: () => void,
): JsonValue {
  return new Redaction(mask, onMasked).value(value, schema);
}

const MIN_CREDENTIAL = 12;

class Redaction {
  readonly #mask: Mask;
  readonly #onMasked: (() => void) | undefined;

  constructor(mask: Mask, onMasked: (() => void) | undefined) {
    this.#mask = mask;
    this.#onMasked = onMasked;
  }

  value(value: JsonValue, schema: SchemaPlace | undefined): JsonValue {
    if (schema !== undefined && (schema.isSecret || schema.mayHide(value))) return this.#whole(value);
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return this.#list(value, schema);
    return isJsonObject(value) ? this.#object(value, schema) : value;
  }

  #object(object: JsonObject, schema: SchemaPlace | undefined): JsonObject {
    const copy: JsonObject = {};
    const isNamedValue = namesSecret(object);
    for (const key of Object.keys(object)) {
      const member = object[key]!;
      const place = schema?.member(key);
      const secret = isSecretKey(key) || (isNamedValue && key === 'value');
      const masked = secret ? this.#whole(member) : this.value(member, place);
      copy[this.#key(key, copy)] = masked;
    }
    return copy;
  }

  /** Masks the key of a member if the key itself contains a credential. */
  #key(key: string, taken: JsonObject): string {
    const shown = key.length < MIN_CREDENTIAL ? key : maskText(key, this.#mask);
    if (shown === key) return key;
    return this.#reportMasked(Object.hasOwn(taken, shown) ? `${shown} ${Object.keys(taken).length}` : shown);
  }

  #list(list: readonly JsonValue[], schema: SchemaPlace | undefined): JsonValue[] {
    return list.map((item, index) => {
      const place = schema?.item(index);
      if (isFlagValue(list, index)) return this.#whole(item);
      if (isLogin(list, index) && place?.isSecret !== true) return this.#login(item as string);
      return this.value(item, place);
    });
  }

  #login(login: string): string {
    const password = login.indexOf(':') + 1;
    if (isHarmless(login.slice(password))) return login;
    return this.#reportMasked(login.slice(0, password) + this.#mask(login.slice(password)));
  }

  #text(text: string): string {
    const shown = maskText(text, this.#mask);
    return shown === text ? text : this.#reportMasked(shown);
  }

  /** Masks a whole value. Null, booleans, empty values and references to secrets are no secrets and stay visible. */
  #whole(value: JsonValue): JsonValue {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string' && isHarmless(value)) return value;
    const secret = typeof value === 'string' ? value : canonicalJson(value);
    if (secret === '{}' || secret === '[]') return value;
    return this.#reportMasked(this.#mask(secret));
  }

  #reportMasked(shown: string): string {
    this.#onMasked?.();
    return shown;
  }
}
