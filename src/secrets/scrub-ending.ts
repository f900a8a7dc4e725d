import type { RunEnding } from '../ports/tool-runner.ts';
import { encode } from '../wire/message-pack.ts';
import type { Taint } from './taint.ts';

const TYPE_NAME = /^[A-Za-z_$][\w$]{0,63}$/;

/** What a run ended with, without the secrets it was given. Words about errors were cut to a length before. */
export function scrubEnding(ending: RunEnding, taint: Taint, maxBytes: number): RunEnding {
  const cut = (text: string): string => taint.scrubText(text, true);
  switch (ending.kind) {
    case 'returned': {
      const result = taint.scrub(ending.result);
      const writeBacks = taint.scrub(ending.writeBacks);
      const isSame = result === ending.result && writeBacks === ending.writeBacks;
      return isSame ? ending : withinLimit({ ...ending, result, writeBacks }, maxBytes);
    }
    case 'refused': {
      const { code, ...rest } = ending;
      const kept = code !== undefined && cut(code) === code ? { code } : {};
      return withinLimit(
        { ...rest, ...kept, message: cut(ending.message), writeBacks: taint.scrub(ending.writeBacks) },
        maxBytes,
      );
    }
    case 'invalid-arguments':
      return { ...ending, problems: ending.problems.map(cut) };
    case 'threw': {
      const type = cut(ending.type);
      return { ...ending, type: TYPE_NAME.test(type) ? type : 'Error', cause: cut(ending.cause) };
    }
    case 'crashed':
      return { ...ending, how: cut(ending.how) };
    case 'unserialisable':
      return { ...ending, problem: cut(ending.problem) };
    case 'timed-out':
    case 'aborted':
    case 'too-large':
    case 'not-run':
      return ending;
  }
}

/** Marks can be longer than what they stand for. */
function withinLimit(ending: RunEnding, limit: number): RunEnding {
  const bytes = encode(ending).byteLength;
  return bytes > limit ? { kind: 'too-large', bytes, limit } : ending;
}
