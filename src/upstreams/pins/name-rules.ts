import { nameSkeleton } from '../../modules/catalog/confusable-names.ts';

/** The names that another server uses. */
export interface OtherServer {
  readonly id: string;
  /** The names of its tools and prompts. */
  readonly names: readonly string[];
}

const MAX_NAME = 128;
const TOKENS = /[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu;
/** A name that is no usual word, so a text that has it means the tool. */
const DISTINCTIVE = /.[_.-].|[a-z][A-Z]|[a-z]\d/u;
const WORDS = /[\p{L}\p{M}]+/gu;
/** Alphabets with letters that look like Latin ones. Greek has an expression of its own, because `µm` and `Δx` are usual. */
const LIKE_LATIN = /[\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;
const GREEK_LIKE_LATIN = /[αγειικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲ]/u;
const LATIN = /\p{Script=Latin}/u;

/** A word with letters of several alphabets, such as `pаypal` with a Cyrillic а. Undefined if there is none. */
export function findMixedScripts(text: string): string | undefined {
  for (const [word] of text.matchAll(WORDS)) {
    const isMixed = LATIN.test(word) ? LIKE_LATIN.test(word) || GREEK_LIKE_LATIN.test(word) : isCyrillicMix(word);
    if (isMixed) return word;
  }
  return undefined;
}

function isCyrillicMix(word: string): boolean {
  return /\p{Script=Cyrillic}/u.test(word) && /[\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(word);
}

/** Answers questions about the names of other servers. */
export class KnownNames {
  readonly #distinctive = new Map<string, string>();
  readonly #skeletons = new Map<string, { readonly name: string; readonly id: string }>();
  readonly #exact = new Set<string>();

  constructor(others: readonly OtherServer[]) {
    for (const { id, names } of others) {
      for (const name of names) {
        this.#exact.add(name);
        this.#skeletons.set(skeletonOf(name), { name, id });
        if (DISTINCTIVE.test(name)) this.#distinctive.set(name.toLowerCase(), id);
      }
    }
  }

  /** A tool of another server that the text names. `ownNames` are in lower case. */
  findMention(text: string, ownNames: ReadonlySet<string>): { readonly name: string; readonly id: string } | undefined {
    if (this.#distinctive.size === 0) return undefined;
    for (const [token] of text.matchAll(TOKENS)) {
      const whole = token.toLowerCase().replace(/[_.-]{1,9}$/u, '');
      // Clients show tools as `server.tool`, `server__tool` or `mcp__server__tool`.
      for (const name of new Set([whole, whole.split(/\.|__/u).at(-1)!])) {
        const id = this.#distinctive.get(name);
        if (id !== undefined && !ownNames.has(name)) return { name, id };
      }
    }
    return undefined;
  }

  /** A name of another server that a reader may take this one for. An equal name is none: the id of the server tells the two apart. */
  findLookAlike(name: string): { readonly name: string; readonly id: string } | undefined {
    return this.#exact.has(name) ? undefined : this.#skeletons.get(skeletonOf(name));
  }
}

/** Bounded, because NFKC takes quadratic time on a name that consists of marks. */
export function skeletonOf(name: string): string {
  return nameSkeleton(name.slice(0, MAX_NAME));
}
