import { resolve } from 'node:path';
import { z } from 'zod';

/** What an option has in addition to its type. Docs, environment names, flags and messages are built from it. */
export interface OptionFacts {
  readonly sentence: string;
  /** The words after "expected" in a message about a wrong value. */
  readonly expects: string;
  /** Reads the value from text, as in the environment or after a flag. Undefined if the text is not a valid value. */
  readonly read: (text: string) => unknown;
  readonly flag?: string;
  /** What applies if the option is not given, in words. For options without a plain default. */
  readonly otherwise?: string;
  /** The value is never printed, and may not be written in clear text in a file. */
  readonly secret?: boolean;
  readonly isPath?: boolean;
  /** For values that contain paths: resolves them against the folder of the file that names them, or against the working directory. */
  readonly place?: (value: unknown, folder: string) => unknown;
  /** For values that may contain secrets: returns what may be printed. */
  readonly show?: (value: unknown) => unknown;
  /** For lists of groups: the keys of one group. Problems inside a group then use the schema's own messages. */
  readonly members?: readonly string[];
  /** True if a running process applies a new value without a restart. */
  readonly live?: boolean;
}

type MoreFacts = Pick<OptionFacts, 'flag' | 'otherwise' | 'secret' | 'live'>;

/** A type of option: how a value is checked, how it is read from text, and how it is named in messages. */
export interface Kind<Schema extends z.ZodType> extends Pick<
  OptionFacts,
  'expects' | 'read' | 'isPath' | 'place' | 'show' | 'members'
> {
  readonly schema: Schema;
}

const facts = z.registry<OptionFacts>();

export function factsOf(schema: z.ZodType): OptionFacts | undefined {
  return facts.get(schema);
}

/** An option with a default. */
export function option<Schema extends z.ZodType>(
  kind: Kind<Schema>,
  fallback: z.core.util.NoUndefined<z.output<Schema>>,
  sentence: string,
  more: MoreFacts = {},
): z.ZodDefault<Schema> {
  return register(kind.schema.default(fallback), kind, sentence, more);
}

/** An option that may be absent. */
export function optional<Schema extends z.ZodType>(
  kind: Kind<Schema>,
  sentence: string,
  more: MoreFacts = {},
): z.ZodOptional<Schema> {
  return register(kind.schema.optional(), kind, sentence, more);
}

function register<Schema extends z.ZodType>(schema: Schema, kind: Kind<z.ZodType>, sentence: string, more: MoreFacts) {
  const { schema: _, ...ofKind } = kind;
  facts.add(schema, { sentence, ...ofKind, ...more });
  return schema;
}

/** Options that belong together. Unknown keys are rejected; a missing group has its defaults. */
export function group<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape);
}

export function wholeNumber(min: number, max: number, unit?: string): Kind<z.ZodInt> {
  const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`;
  return {
    schema: z.int().min(min).max(max),
    expects: `${what} from ${min} to ${max}`,
    read: (text) => (/^\d{1,16}$/.test(text) ? Number(text) : undefined),
  };
}

export function milliseconds(min: number, max: number): Kind<z.ZodInt> {
  return wholeNumber(min, max, 'milliseconds');
}

export function bytes(min: number, max: number): Kind<z.ZodInt> {
  return wholeNumber(min, max, 'bytes');
}

export const fraction: Kind<z.ZodNumber> = {
  schema: z.number().min(0).max(1),
  expects: 'a number from 0 to 1',
  read: (text) => (/^(0(\.\d{1,12})?|1(\.0{1,12})?)$/.test(text) ? Number(text) : undefined),
};

export const yesOrNo: Kind<z.ZodBoolean> = {
  schema: z.boolean(),
  expects: 'true or false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

export function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return {
    schema: z.enum(words),
    expects: `one of ${words.join(', ')}`,
    read: (text: string) => (words.includes(text) ? text : undefined),
  };
}

const MAX_TEXT_LENGTH = 4096;

export function text(expects: string, pattern = /^[^\p{Cc}]+$/u): Kind<z.ZodString> {
  return { schema: z.string().min(1).max(MAX_TEXT_LENGTH).regex(pattern), expects, read: (given) => given };
}

/**
 * A URL that matches the pattern and that Node can parse: its port is at most 65535, and special characters in its password are encoded.
 */
export function url(expects: string, pattern: RegExp): Kind<z.ZodString> {
  const isUrl = (given: string): boolean => pattern.test(given) && URL.parse(given) !== null;
  return { schema: z.string().min(1).max(MAX_TEXT_LENGTH).refine(isUrl), expects, read: (given) => given };
}

export const filePath: Kind<z.ZodString> = {
  ...text('a path'),
  isPath: true,
  place: (value, folder) => (typeof value === 'string' && value !== '' ? resolve(folder, value) : value),
};

const address = z.strictObject({
  host: z.string().regex(/^[A-Za-z0-9._:-]{1,255}$/),
  port: z.int().min(1).max(65_535),
});

/** A list of addresses. In the environment or a flag, it is written as `host:port,host:port`. */
export const addresses: Kind<z.ZodArray<typeof address>> = {
  schema: z.array(address).min(1).max(64),
  expects: 'a list of { host, port }',
  read(given) {
    const parts = given.split(',').map((part) => /^\s*(\S+):(\d{1,5})\s*$/.exec(part));
    if (parts.includes(null)) return undefined;
    return parts.map((part) => ({ host: part![1]!, port: Number(part![2]) }));
  },
};

const MAX_TEXTS = 64;

/** A list of texts. In the environment or a flag, it is written as its items, separated by commas. */
export function textList(expects: string, isOne: (given: string) => boolean): Kind<z.ZodArray<z.ZodString>> {
  return {
    schema: z.array(z.string().min(1).max(MAX_TEXT_LENGTH).refine(isOne)).min(1).max(MAX_TEXTS),
    expects,
    read: (given) => given.split(',').map((part) => part.trim()),
  };
}
