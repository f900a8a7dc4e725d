import { types } from 'node:util';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { hasLoneSurrogate } from '../../base/well-formed.ts';

const MAX_RESULT_DEPTH = 64;
const IDENTIFIER = /^[A-Za-z_$][\w$]{0,39}$/;

/** The value cannot be sent. The message names the place. */
export class NotPlain extends Error {
  override readonly name = 'NotPlain';
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly bytes: number;
  readonly limit: number;

  constructor(bytes: number, limit: number) {
    super(`${bytes} bytes; the limit is ${limit}`);
    this.bytes = bytes;
    this.limit = limit;
  }
}

/** MessagePack adds at most this many bytes to the payload of one value. */
const MAX_OVERHEAD_BYTES = 9;

/** Counts bytes while a value is walked, so that an endless or huge value is rejected before it is built. */
export class SizeBudget {
  readonly limit: number;
  #minBytes = 0;
  #values = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Counts one value with a payload of this many bytes. Its encoding takes at least one byte more. */
  take(bytes: number): void {
    this.#minBytes += bytes + 1;
    this.#values += 1;
    if (this.#minBytes > this.limit) throw new TooLarge(this.#minBytes, this.limit);
  }

  /** True if no encoding of what was counted can exceed the limit. */
  get surelyFits(): boolean {
    return this.#minBytes + this.#values * MAX_OVERHEAD_BYTES <= this.limit;
  }
}

/**
 * A JSON copy of whatever a tool returned. Throws NotPlain or TooLarge. If code of the value (getters, proxies) throws, that is reported as
 * NotPlain. The mapping: Date → ISO text, -0 → 0, properties that are undefined are left out. Everything else that JSON cannot express is
 * rejected with its path.
 */
export function makePlain(value: unknown, budget: SizeBudget, root = '$'): JsonValue {
  const walk = new Walk(budget, root);
  try {
    return walk.copy(value);
  } catch (error) {
    if (error instanceof NotPlain || error instanceof TooLarge) throw error;
    throw new NotPlain(`reading ${walk.path} threw`);
  }
}

class Walk {
  readonly #budget: SizeBudget;
  readonly #root: string;
  readonly #keys: (string | number)[] = [];
  readonly #ancestors: object[] = [];

  constructor(budget: SizeBudget, root: string) {
    this.#budget = budget;
    this.#root = root;
  }

  get path(): string {
    const steps = this.#keys.map((key) =>
      typeof key === 'number' ? `[${key}]` : IDENTIFIER.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 40))}]`,
    );
    const text = steps.join('');
    return this.#root + (text.length > 200 ? `${text.slice(0, 200)}…` : text);
  }

  copy(value: unknown): JsonValue {
    switch (typeof value) {
      case 'string':
        return this.#copyText(value);
      case 'number':
        if (!Number.isFinite(value)) return this.#refuse(`is ${value}, which JSON cannot say`);
        this.#budget.take(0);
        return value === 0 ? 0 : value;
      case 'boolean':
        this.#budget.take(0);
        return value;
      case 'object':
        return value === null ? this.#copyNull() : this.#copyObject(value);
      default:
        return this.#refuse(`is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`);
    }
  }

  #copyNull(): null {
    this.#budget.take(0);
    return null;
  }

  #copyText(text: string): string {
    this.#budget.take(Buffer.byteLength(text));
    return hasLoneSurrogate(text) ? this.#refuse('contains half a surrogate pair') : text;
  }

  #copyObject(value: object): JsonValue {
    if (this.#ancestors.includes(value)) return this.#refuse('contains itself');
    if (this.#ancestors.length >= MAX_RESULT_DEPTH)
      return this.#refuse(`is nested deeper than ${MAX_RESULT_DEPTH} levels`);
    this.#budget.take(0);
    if (types.isDate(value)) return this.#copyDate(value);
    this.#ancestors.push(value);
    const copy = Array.isArray(value) ? this.#copyArray(value) : this.#copyProperties(value);
    this.#ancestors.pop();
    return copy;
  }

  #copyDate(date: Date): string {
    // Uses the prototype's methods: an instance may have overridden them.
    const time = Date.prototype.getTime.call(date);
    return Number.isNaN(time) ? this.#refuse('is an invalid Date') : new Date(time).toISOString();
  }

  #copyArray(items: readonly unknown[]): JsonValue[] {
    const copy: JsonValue[] = [];
    for (let index = 0; index < items.length; index += 1) {
      this.#keys.push(index);
      copy.push(this.copy(items[index]));
      this.#keys.pop();
    }
    return copy;
  }

  #copyProperties(value: object): JsonObject {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return this.#refuse(`is ${nameOf(value)}`);
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) {
      this.#keys.push(key);
      // Refused: assigning to `__proto__` would change the copy's prototype instead of adding a property.
      if (key === '__proto__') this.#refuse('is a key that is not allowed');
      if (hasLoneSurrogate(key)) this.#refuse('is a key with half a surrogate pair');
      const property = (value as Record<string, unknown>)[key];
      if (property !== undefined) {
        this.#budget.take(Buffer.byteLength(key));
        copy[key] = this.copy(property);
      }
      this.#keys.pop();
    }
    return copy;
  }

  #refuse(problem: string): never {
    throw new NotPlain(`${this.path} ${problem}`);
  }
}

function nameOf(value: object): string {
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value))
    return 'binary data; use image(), audio(), file() or ctx.sendFile()';
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && IDENTIFIER.test(name) ? `an instance of ${name}` : 'not a plain object';
}
