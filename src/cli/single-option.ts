import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { OPTION_ROWS } from '../config/option-rows.ts';
import { usage } from './command-failure.ts';

type Read = (text: string) => unknown;

/** An option with one value, which may be given only once. A value that looks like a flag must be attached: `--key=--x`. */
export class SingleOption extends Option {
  /** Values that shell completion offers. The help does not list them: there may be many. */
  completes: readonly string[] = [];

  constructor(flags: string, description: string, read: Read = (text) => text) {
    super(flags, description);
    let seen = false;
    this.argParser((value: string) => {
      if (seen) throw usage(`${this.long} is given twice.`);
      seen = true;
      if (value.startsWith('-') && !process.argv.includes(`${this.long}=${value}`)) {
        throw usage(`${this.long} has no value.`, `If it really starts with "-", write ${this.long}=VALUE.`);
      }
      return this.#read(value, read);
    });
  }

  /** Parses the value, and replaces commander's own message for an invalid one. That message would quote the value, which may be a password. */
  #read(value: string, read: Read): unknown {
    try {
      return read(value);
    } catch (error) {
      if (error instanceof InvalidArgumentError) throw usage(`${this.long}: ${error.message}`);
      throw error;
    }
  }
}

/** A flag that sets an option of the configuration. Its description, its type and the option that it sets come from the schema. */
export class ConfigOption extends SingleOption {
  readonly path: string;

  constructor(path: string) {
    const row = OPTION_ROWS.find((candidate) => candidate.path === path);
    if (row?.flag === undefined) throw new TypeError(`${path} has no flag`);
    const { flag, sentence, expects, schema } = row;
    const word = row.isPath ? 'path' : path === 'redis.url' ? 'url' : 'value';
    super(`${flag} <${word}>`, sentence, (text) => {
      const value = row.read(text);
      if (value === undefined || !schema.safeParse(value).success)
        throw new InvalidArgumentError(`Expected ${expects}.`);
      return value;
    });
    this.path = path;
    this.completes = wordsOf(schema);
  }
}

function wordsOf(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return wordsOf(schema.unwrap());
  return schema instanceof z.ZodEnum ? schema.options.map(String) : [];
}
