/** Whoever waits here is known by a number, written in decimal: that is read fastest. */
interface Numbered {
  readonly correlationId: string;
}

const FIRST_PLACES = 256;

/**
 * Those who wait, found by their number: places in an array, taken in turn. A Map would do the same, but each time it makes room it
 * leaves a table behind that keeps everybody who was in it from the collector of young objects, with all they hold.
 */
export class WaitingRoom<Waiter extends Numbered> {
  #places: (Waiter | undefined)[] = emptyPlaces(FIRST_PLACES);
  #last = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of a place that is free now; never given twice. */
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

  /** False when the waiter was not here, or not any more. */
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

  /** Numbers that differ in the smaller room differ in the larger. */
  #grow(): void {
    const waiters = this.all();
    this.#places = emptyPlaces(this.#places.length * 2);
    for (const waiter of waiters) this.#places[this.#placeOf(Number(waiter.correlationId))] = waiter;
  }

  /** The number of places is a power of two. What is no number has place 0. */
  #placeOf(number: number): number {
    return number & (this.#places.length - 1);
  }
}

function emptyPlaces(length: number): undefined[] {
  return Array.from({ length }, () => undefined);
}
