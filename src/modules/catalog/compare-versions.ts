/**
 * Compares versions as semver does, but also accepts common deviations: missing parts count as 0, and a leading `v` and build metadata are
 * ignored. A pre-release is below its release.
 */
export function compareVersions(a: string, b: string): number {
  const [releaseA, preA] = split(a);
  const [releaseB, preB] = split(b);
  const byRelease = compareLists(releaseA, releaseB, '0');
  if (byRelease !== 0) return byRelease;
  if (preA.length === 0 || preB.length === 0) return Math.sign(preB.length - preA.length);
  return compareLists(preA, preB, undefined);
}

function split(version: string): [release: string[], preRelease: string[]] {
  const core = version.replace(/^v/i, '').split('+', 1)[0]!;
  const dash = core.indexOf('-');
  if (dash < 0) return [core.split('.'), []];
  return [core.slice(0, dash).split('.'), core.slice(dash + 1).split('.')];
}

function compareLists(a: readonly string[], b: readonly string[], missing: string | undefined): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const left = a[index] ?? missing;
    const right = b[index] ?? missing;
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    const order = compareParts(left, right);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares two parts of a version: numbers by value, and every number below every word. */
function compareParts(a: string, b: string): number {
  const numberA = /^\d+$/.test(a) ? BigInt(a) : undefined;
  const numberB = /^\d+$/.test(b) ? BigInt(b) : undefined;
  if (numberA !== undefined && numberB !== undefined) return numberA === numberB ? 0 : numberA < numberB ? -1 : 1;
  if (numberA !== undefined || numberB !== undefined) return numberA === undefined ? 1 : -1;
  return a === b ? 0 : a < b ? -1 : 1;
}
