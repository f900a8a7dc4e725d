import { planeError } from '../../domain/errors/errors.ts';

export interface Dependent {
  readonly needs: readonly string[];
  readonly uses: readonly string[];
}

/**
 * Sorts services so that each one comes after everything it depends on, otherwise by name. Throws SERVICES_INVALID for a missing service
 * and for a cycle of dependencies.
 */
export function orderServices(known: ReadonlyMap<string, Dependent>, wanted: Iterable<string>): string[] {
  const ordered = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (ordered.has(name)) return;
    const start = path.indexOf(name);
    if (start >= 0)
      refuse(`${[...path.slice(start), name].join(' needs ')}: a circle, so none of them can be the first`);
    const service = known.get(name);
    if (service === undefined) {
      return refuse(`${path.at(-1) ?? 'somebody'} needs the service ${name}, which is not configured`);
    }
    const used = service.uses.filter((other) => known.has(other));
    for (const other of [...new Set([...service.needs, ...used])].sort()) visit(other, [...path, name]);
    ordered.add(name);
  };
  for (const name of [...wanted].sort()) visit(name, []);
  return [...ordered];
}

function refuse(problem: string): never {
  throw planeError('SERVICES_INVALID', { problems: [problem] });
}
