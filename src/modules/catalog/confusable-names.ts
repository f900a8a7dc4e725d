/**
 * Letters of other alphabets that look like ASCII ones, after NFKC (which already folds fullwidth and styled letters).
 * The attack: a module `nоtes` with a Cyrillic letter, or `Iocal` for `local`, that a reviewer reads as the trusted one.
 */
const LOOKALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  ɑ: 'a',
  α: 'a',
  Ь: 'b',
  в: 'b',
  с: 'c',
  ϲ: 'c',
  ԁ: 'd',
  е: 'e',
  ҽ: 'e',
  є: 'e',
  ε: 'e',
  ɡ: 'g',
  һ: 'h',
  і: 'i',
  ı: 'i',
  ι: 'i',
  ј: 'j',
  к: 'k',
  κ: 'k',
  ӏ: 'l',
  ⅼ: 'l',
  м: 'm',
  н: 'h',
  п: 'n',
  ո: 'n',
  η: 'n',
  о: 'o',
  ο: 'o',
  օ: 'o',
  р: 'p',
  ρ: 'p',
  ԛ: 'q',
  г: 'r',
  ѕ: 's',
  т: 't',
  τ: 't',
  υ: 'u',
  ս: 'u',
  ν: 'v',
  ѵ: 'v',
  ԝ: 'w',
  ω: 'w',
  х: 'x',
  χ: 'x',
  у: 'y',
  γ: 'y',
  ʏ: 'y',
  ᴢ: 'z',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '–': '-',
  '—': '-',
  '−': '-',
  '·': '.',
};

/** A text that is equal for names which a reader may take for each other. Only for comparing; it is not a name. */
export function nameSkeleton(name: string): string {
  // Capital I and the digit 1 look like l, so they are replaced before case is folded; a small i does not look like l.
  const shaped = name
    .normalize('NFKC')
    .replaceAll(/[I1|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('5', 's')
    .toLowerCase();
  const letters = Array.from(shaped, (letter) => LOOKALIKES[letter] ?? letter).join('');
  // Few readers remember which separator a name has, how many, and where.
  return letters.replaceAll(/[-_]/g, '').replaceAll('rn', 'm').replaceAll('vv', 'w');
}

export interface Confusable {
  readonly how: 'the same' | 'easily confused';
  readonly with: string;
}

/** Names that are already taken. Finds the one that a new name could be mistaken for. */
export class TakenNames {
  readonly #exact = new Set<string>();
  readonly #folded = new Map<string, string>();
  readonly #skeletons = new Map<string, string>();

  constructor(names: Iterable<string> = []) {
    for (const name of names) this.take(name);
  }

  has(name: string): boolean {
    return this.#exact.has(name);
  }

  findConfusable(name: string): Confusable | undefined {
    if (this.#exact.has(name)) return { how: 'the same', with: name };
    const other = this.#folded.get(name.toLowerCase()) ?? this.#skeletons.get(nameSkeleton(name));
    return other === undefined ? undefined : { how: 'easily confused', with: other };
  }

  take(name: string): void {
    this.#exact.add(name);
    this.#folded.set(name.toLowerCase(), name);
    this.#skeletons.set(nameSkeleton(name), name);
  }
}
