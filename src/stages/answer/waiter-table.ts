/** A waiter, identified by a number. `correlationId` is that number as decimal text, which is the fastest to parse. */
interface Numbered {
  readonly correlationId: string;
}

const FIRST_PLACES = 256;

/**
 * A table of waiters by number. The waiters stand in the slots of an array. A Map would do the same, but each time it grows it leaves an
 * old table behind. That old table keeps all its former entries, and everything they reference, from being freed by V8's garbage collection
 * of young objects.
 */
export class WaiterTable<Waiter extends Numbered> {
  #places: (Waiter | undefined)[] = emptyPlaces(FIRST_PLACES);
  #last = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns a new number whose slot is free. No number is returned twice. */
  newNumber(): string {
    if (this.#size * 2 > this.#places.length) this.#grow();
    do this.#last += 1;
    while (this.#places[this.#placeOf(this.#last)] !== undefined);
    return String(this.#last);
  }

  add(waiter: Waiter): void {
    let place = this.#placeOf(Number(waiter.correlationId));
    while (this.#places[place] !== undefined) {
      this.#grow();
      place = this.#placeOf(Number(waiter.correlationId));
    }
    this.#places[place] = waiter;
    this.#size += 1;
  }

  find(correlationId: string): Waiter | undefined {
    const found = this.#places[this.#placeOf(Number(correlationId))];
    return found?.correlationId === correlationId ? found : undefined;
  }

  /** False when the waiter is not, or no longer, in the table. */
  remove(waiter: Waiter): boolean {
    const place = this.#placeOf(Number(waiter.correlationId));
    if (this.#places[place] !== waiter) return false;
    this.#places[place] = undefined;
    this.#size -= 1;
    return true;
  }

  all(): Waiter[] {
    return this.#places.filter((waiter) => waiter !== undefined);
  }

  /** Waiters with different slots in the smaller table also have different slots in the larger one. */
  #grow(): void {
    const waiters = this.all();
    this.#places = emptyPlaces(this.#places.length * 2);
    for (const waiter of waiters) this.#places[this.#placeOf(Number(waiter.correlationId))] = waiter;
  }

  /** The number of slots is a power of two, so the lower bits of the number are its slot. NaN gets slot 0. */
  #placeOf(number: number): number {
    return number & (this.#places.length - 1);
  }
}

function emptyPlaces(length: number): undefined[] {
  return Array.from({ length }, () => undefined);
}
