/** A mistake in the command line; the message describes it. */
export class UsageProblem extends Error {}

export function toNumber(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value < 1e9))
    throw new UsageProblem(`${option} needs a number above 0, not "${text}".`);
  return value;
}

export function toCount(option: string, text: string): number {
  const value = toNumber(option, text);
  if (!Number.isInteger(value)) throw new UsageProblem(`${option} needs a whole number, not "${text}".`);
  return value;
}

export function toCounts(option: string, text: string): number[] {
  return text.split(',').map((part) => toCount(option, part));
}

/** Splits a list of names; each must be one of `all`. */
export function toNames<Name extends string>(option: string, text: string, all: readonly Name[]): Name[] {
  return text.split(',').map((part) => {
    const found = all.find((name) => name === part);
    if (found === undefined) throw new UsageProblem(`${option}: there is no "${part}". There are: ${all.join(', ')}.`);
    return found;
  });
}
