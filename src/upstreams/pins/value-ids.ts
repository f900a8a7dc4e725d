import type { JsonValue } from '../../base/json.ts';

/**
 * Gives equal JSON values equal ids; the order of members does not matter. Each value is looked at once, however often it is asked about
 * and however deep it is: canonical JSON of each part of a deep value would take quadratic time.
 */
export class ValueIds {
  readonly #ids = new Map<string, string>();
  readonly #known = new WeakMap<object, string>();

  idOf(root: JsonValue): string {
    const waiting = [root];
    while (waiting.length > 0) {
      const value = waiting.at(-1)!;
      if (typeof value !== 'object' || value === null || this.#known.has(value)) {
        waiting.pop();
        continue;
      }
      const before = waiting.length;
      for (const child of Object.values(value)) if (this.#lookUp(child) === undefined) waiting.push(child);
      // All parts have ids, so the value can get one.
      if (waiting.length === before) this.#known.set(value, this.#idOfShape(value));
    }
    return this.#lookUp(root)!;
  }

  #lookUp(value: JsonValue): string | undefined {
    return typeof value === 'object' && value !== null ? this.#known.get(value) : JSON.stringify(value);
  }

  #idOfShape(value: object): string {
    const names = Array.isArray(value) ? undefined : Object.keys(value).toSorted();
    const shape =
      names === undefined
        ? `[${Object.values(value)
            .map((child: JsonValue) => this.#lookUp(child))
            .join(',')}`
        : `{${names.map((name) => `${JSON.stringify(name)}:${this.#lookUp((value as Record<string, JsonValue>)[name]!)}`).join(',')}`;
    const id = this.#ids.get(shape) ?? `#${this.#ids.size}`;
    this.#ids.set(shape, id);
    return id;
  }
}
