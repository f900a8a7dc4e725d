import type { JsonObject } from '../../base/json.ts';
import { findSecrets, type FoundSecret, type TaintedSecret } from './find-forms.ts';
import { byteFormsOf, formsOf, withEdges, type SecretForm } from './secret-forms.ts';

/** The secrets that one call was given, and the functions that remove them from everything that leaves the call. */
export class Taint {
  readonly #secrets: TaintedSecret[] = [];
  #inBytes: SecretForm[] | undefined;

  add(name: string, value: string): void {
    if (this.#secrets.some((known) => known.name === name && known.value === value)) return;
    this.#secrets.push({ name, value, forms: formsOf(value) });
    this.#inBytes = undefined;
  }

  get isEmpty(): boolean {
    return this.#secrets.length === 0;
  }

  /**
   * Replaces secrets in a text. `mayBeCut`: the text was shortened before, perhaps in the middle of a secret, and may therefore end with
   * `CUT`.
   */
  scrubText(text: string, mayBeCut = false): string {
    const scrubbed = this.#replace(text, mayBeCut, ({ name }) => markOf(name));
    if (!mayBeCut || !scrubbed.endsWith(CUT)) return scrubbed;
    return this.#replace(scrubbed.slice(0, -CUT.length), true, ({ name }) => markOf(name)) + CUT;
  }

  /** Replaces secrets in any JSON, and in bytes inside it. Returns the same value if there was nothing to scrub. */
  scrub<Value>(value: Value): Value {
    return this.#walk(value, (text) => this.scrubText(text)) as Value;
  }

  /** Replaces secrets in a file name. The name was made from the last part of a path, and cut before its extension. */
  scrubFileName(name: string): string {
    const ending = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
    const stem = this.scrubText(name.slice(0, name.length - ending.length), true);
    const part = this.#secrets.find(({ forms }) =>
      forms.some(({ sought }) => {
        const last = lastPart(sought.text);
        return last.length >= MIN_PART && last.length < sought.text.length && stem.includes(last);
      }),
    );
    return part === undefined ? stem + ending : markOf(part.name) + ending;
  }

  /** For arguments of another call: a secret that appears unchanged becomes a reference again, so that the other call asks for it again. */
  toReferences(value: JsonObject): JsonObject {
    return this.#walk(value, (text) => {
      const whole = this.#secrets.find((secret) => secret.value === text);
      if (whole !== undefined) return `secret:${whole.name}`;
      return this.#replace(text, false, ({ name, raw }) => (raw ? `\${secret:${name}}` : markOf(name)));
    }) as JsonObject;
  }

  #replace(text: string, mayBeCut: boolean, mark: (found: FoundSecret) => string): string {
    const found = findSecrets(text, this.#secrets, mayBeCut);
    if (found.length === 0) return text;
    let scrubbed = '';
    let from = 0;
    for (const one of found) {
      scrubbed += text.slice(from, one.start) + mark(one);
      from = one.end;
    }
    return scrubbed + text.slice(from);
  }

  #walk(value: unknown, change: (text: string) => string): unknown {
    if (typeof value === 'string') return change(value);
    if (typeof value === 'number') return this.#number(value);
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Uint8Array) return this.#bytes(value);
    if (Array.isArray(value)) {
      const copy = value.map((item: unknown) => this.#walk(item, change));
      return copy.some((item, index) => item !== value[index]) ? copy : value;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === Object.prototype || prototype === null ? this.#object(value, change) : value;
  }

  /** Keys are scrubbed, too: a result may be a map keyed by what the tool was given. */
  #object(object: object, change: (text: string) => string): object {
    const copy: Record<string, unknown> = {};
    let changed = false;
    for (const [key, member] of Object.entries(object)) {
      const scrubbed = change(key);
      const name =
        scrubbed !== key && Object.hasOwn(copy, scrubbed) ? `${scrubbed} ${Object.keys(copy).length}` : scrubbed;
      copy[name] = this.#walk(member, change);
      changed ||= name !== key || copy[name] !== member;
    }
    return changed ? copy : object;
  }

  #number(number: number): unknown {
    const text = String(number);
    const secret = this.#secrets.find(({ value }) => value === text);
    return secret === undefined ? number : markOf(secret.name);
  }

  /** Text gets the mark. Other bytes are overwritten at the same length, so that what surrounds them stays readable. */
  #bytes(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const latin = buffer.toString('latin1');
    const text = decodeText(buffer);
    if (text !== undefined) {
      const scrubbed = this.scrubText(text);
      if (scrubbed !== text) return Buffer.from(scrubbed);
    }
    let copy: Buffer | undefined;
    for (const form of this.#soughtInBytes()) {
      for (const place of form.sought.placesIn(latin))
        (copy ??= Buffer.from(buffer)).fill('*', ...withEdges(form, latin, place));
    }
    return copy ?? bytes;
  }

  #soughtInBytes(): readonly SecretForm[] {
    this.#inBytes ??= this.#secrets.flatMap(({ value }) => byteFormsOf(value));
    return this.#inBytes;
  }
}

const MIN_PART = 8;
/** Some texts end with this sign if they were cut. */
const CUT = '…';

function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).trim();
}

/** The mark names the secret, so that the model can act on it. */
function markOf(name: string): string {
  return `[secret ${name}]`;
}

function decodeText(buffer: Buffer): string | undefined {
  if (buffer.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(buffer);
  } catch {
    return undefined;
  }
}
