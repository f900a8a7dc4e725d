import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import { isHarmless } from './find-assignments.ts';
import { maskText, type Mask } from './mask-text.ts';
import type { SchemaPlace } from './schema-secrets.ts';
import { isSecretKey } from './secret-words.ts';

/** A value that was masked: as a whole, or parts of a text. `pointer` as in RFC 6901. */
export interface Masked {
  readonly pointer: string;
  readonly kind: 'value' | 'text' | 'key';
  readonly shown: string;
}

/** A copy of a value in which everything secret is masked, by its schema, by the names of its members, and by its shape. */
export function redactJson(
  value: JsonValue,
  schema: SchemaPlace | undefined,
  mask: Mask,
  onMasked?: (masked: Masked) => void,
): JsonValue {
  return new Redaction(mask, onMasked).value(value, schema, '');
}

/** Who is told the name of a header beside its value. */
const NAME_MEMBERS = ['name', 'key', 'header'];
const LEAST_CREDENTIAL = 12;
const FLAG = /^--?[A-Za-z][A-Za-z0-9_-]*$/;
const LOGIN_FLAG = /^(?:-u|--user|--proxy-user)$/;

class Redaction {
  readonly #mask: Mask;
  readonly #onMasked: ((masked: Masked) => void) | undefined;

  constructor(mask: Mask, onMasked: ((masked: Masked) => void) | undefined) {
    this.#mask = mask;
    this.#onMasked = onMasked;
  }

  value(value: JsonValue, schema: SchemaPlace | undefined, pointer: string): JsonValue {
    if (schema?.isSecret === true) return this.#whole(value, pointer);
    if (typeof value === 'string') return this.#text(value, pointer);
    if (Array.isArray(value)) return this.#list(value, schema, pointer);
    return isJsonObject(value) ? this.#object(value, schema, pointer) : value;
  }

  #object(object: JsonObject, schema: SchemaPlace | undefined, pointer: string): JsonObject {
    const copy: JsonObject = {};
    const namesSecret = NAME_MEMBERS.some((name) =>
      isSecretName(Object.hasOwn(object, name) ? object[name] : undefined),
    );
    for (const key of Object.keys(object)) {
      const below = `${pointer}/${escapePointer(key)}`;
      const member = object[key]!;
      const place = schema?.member(key);
      const secret = isSecretKey(key) || (namesSecret && key === 'value');
      const masked = secret ? this.#whole(member, below) : this.value(member, place, below);
      copy[this.#key(key, copy, below)] = masked;
    }
    return copy;
  }

  /** A key can be a credential itself. */
  #key(key: string, taken: JsonObject, pointer: string): string {
    const shown = key.length < LEAST_CREDENTIAL ? key : maskText(key, this.#mask);
    if (shown === key) return key;
    return this.#told(pointer, 'key', Object.hasOwn(taken, shown) ? `${shown} ${Object.keys(taken).length}` : shown);
  }

  /** A list can be a command, word by word, or a header and its value. */
  #list(list: readonly JsonValue[], schema: SchemaPlace | undefined, pointer: string): JsonValue[] {
    return list.map((item, index) => {
      const below = `${pointer}/${index}`;
      const before = index === 0 ? undefined : list[index - 1];
      if (typeof before === 'string' && typeof item === 'string') {
        const isPair = list.length === 2 && isSecretName(before);
        const isFlag = FLAG.test(before) && isSecretKey(before) && !item.startsWith('-');
        if (isPair || isFlag) return this.#whole(item, below);
        if (LOGIN_FLAG.test(before) && item.includes(':')) return this.#login(item, below);
      }
      return this.value(item, schema?.item(index), below);
    });
  }

  #login(login: string, pointer: string): string {
    const password = login.indexOf(':') + 1;
    if (/^[0-9:]+$/.test(login) || isHarmless(login.slice(password))) return login;
    return this.#told(pointer, 'text', login.slice(0, password) + this.#mask(login.slice(password)));
  }

  #text(text: string, pointer: string): string {
    const shown = maskText(text, this.#mask);
    return shown === text ? text : this.#told(pointer, 'text', shown);
  }

  /** Yes, no and nothing are no secrets; neither is a reference to one. */
  #whole(value: JsonValue, pointer: string): JsonValue {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string' && isHarmless(value)) return value;
    const secret = typeof value === 'string' ? value : canonicalJson(value);
    if (secret === '{}' || secret === '[]') return value;
    return this.#told(pointer, 'value', this.#mask(secret));
  }

  #told(pointer: string, kind: Masked['kind'], shown: string): string {
    this.#onMasked?.({ pointer, kind, shown });
    return shown;
  }
}

function isSecretName(value: JsonValue | undefined): boolean {
  return (
    typeof value === 'string' && value.length <= 64 && /^[A-Za-z][A-Za-z0-9_-]*$/.test(value) && isSecretKey(value)
  );
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
