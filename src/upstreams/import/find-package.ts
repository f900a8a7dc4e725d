/** A package that a launcher fetches and runs: which one, and whether its version is fixed. */
export interface LaunchedPackage {
  readonly launcher: 'npx' | 'uvx' | 'docker' | 'other';
  readonly name: string;
  /** What is written instead of a version: nothing, `latest`, a range. Undefined if the version is exact. */
  readonly loose: string | undefined;
  /** The position of the package in the arguments. */
  readonly at: number;
}

const NPM_NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
const EXACT = /^v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;
/** Flags of `docker run` that take no value. All others that have no `=` take the next word. */
const DOCKER_SWITCHES =
  /^(?:-[itdqP]+|--(?:rm|init|interactive|tty|detach|privileged|read-only|quiet|publish-all|no-healthcheck|oom-kill-disable))$/;
const NPX_VALUES: ReadonlySet<string> = new Set([
  '--registry',
  '--cache',
  '--userconfig',
  '--prefix',
  '-w',
  '--workspace',
]);
const UVX_VALUES: ReadonlySet<string> = new Set([
  '--with',
  '--python',
  '-p',
  '--index-url',
  '--index',
  '--directory',
  '--project',
]);

/** Finds the package that a command line fetches at its start; undefined if it starts a program that is already there. */
export function findPackage(command: string, args: readonly string[]): LaunchedPackage | undefined {
  const program = programName(command);
  if (program === 'cmd' && /^\/c$/i.test(args[0] ?? '') && args[1] !== undefined) {
    const inner = findPackage(args[1], args.slice(2));
    return inner === undefined ? undefined : { ...inner, at: inner.at + 2 };
  }
  if (program === 'npx' || program === 'bunx') return npmPackage(args, 0, program === 'npx' ? 'npx' : 'other');
  if ((program === 'pnpm' || program === 'yarn') && args[0] === 'dlx') return npmPackage(args, 1, 'other');
  if (program === 'uvx') return pythonPackage(args, 0);
  if (program === 'uv' && args[0] === 'tool' && args[1] === 'run') return pythonPackage(args, 2);
  if (program === 'pipx' && args[0] === 'run') return pythonPackage(args, 1);
  if ((program === 'docker' || program === 'podman') && args.includes('run'))
    return image(args, args.indexOf('run') + 1);
  return undefined;
}

/** The name of a program without its folder and without the endings of Windows. */
export function programName(command: string): string {
  return (command.split(/[\\/]/).at(-1) ?? '').toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/, '');
}

function npmPackage(
  args: readonly string[],
  from: number,
  launcher: LaunchedPackage['launcher'],
): LaunchedPackage | undefined {
  const at = packageAt(args, from, ['-p', '--package'], NPX_VALUES);
  if (at === undefined) return undefined;
  const spec = args[at]!.replace(/^--package=/, '');
  const sign = spec.indexOf('@', 1);
  const name = sign < 0 ? spec : spec.slice(0, sign);
  // A path, an address or a repository has no version.
  if (!NPM_NAME.test(name)) return undefined;
  const version = sign < 0 ? '' : spec.slice(sign + 1);
  return { launcher, name, loose: EXACT.test(version) ? undefined : version, at };
}

function pythonPackage(args: readonly string[], from: number): LaunchedPackage | undefined {
  const at = packageAt(args, from, ['--from', '--spec'], UVX_VALUES);
  if (at === undefined) return undefined;
  const [, name, version = ''] =
    /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?((?:[=<>~!@]=?|===).*)?$/.exec(
      args[at]!.replace(/^--(?:from|spec)=/, ''),
    ) ?? [];
  if (name === undefined) return undefined;
  const isExact = /^(?:===?|@)\s*\d[0-9A-Za-z.+!-]*$/.test(version);
  return { launcher: 'uvx', name, loose: isExact ? undefined : version, at };
}

/** The position of the package: the value of the flag that names one, otherwise the first word that is no flag. */
function packageAt(
  args: readonly string[],
  from: number,
  naming: readonly string[],
  withValue: ReadonlySet<string>,
): number | undefined {
  for (let at = from; at < args.length; at += 1) {
    const word = args[at]!;
    if (naming.includes(word)) return args[at + 1] === undefined ? undefined : at + 1;
    if (naming.some((flag) => word.startsWith(`${flag}=`))) return at;
    if (withValue.has(word)) at += 1;
    else if (!word.startsWith('-')) return at;
  }
  return undefined;
}

function image(args: readonly string[], from: number): LaunchedPackage | undefined {
  for (let at = from; at < args.length; at += 1) {
    const word = args[at]!;
    if (!word.startsWith('-')) return imageAt(word, at);
    if (!word.includes('=') && !DOCKER_SWITCHES.test(word)) at += 1;
  }
  return undefined;
}

function imageAt(word: string, at: number): LaunchedPackage {
  const [name = '', digest] = word.split('@');
  const slash = name.lastIndexOf('/');
  const colon = name.indexOf(':', slash + 1);
  const tag = colon < 0 ? '' : name.slice(colon + 1);
  const isFixed = digest !== undefined || (tag !== '' && tag !== 'latest');
  return { launcher: 'docker', name: colon < 0 ? name : name.slice(0, colon), loose: isFixed ? undefined : tag, at };
}

/** The arguments with an exact version of the package. */
export function pinArguments(args: readonly string[], { name, at }: LaunchedPackage, version: string): string[] {
  const flag = args[at]!.startsWith('--package=') ? '--package=' : '';
  return args.with(at, `${flag}${name}@${version}`);
}

/** Whether a text is an exact version, as a registry would print it. */
export function isExactVersion(text: string): boolean {
  return text.length <= 100 && EXACT.test(text);
}

/** Whether an exact version may be looked up. A range or a tag was chosen by a person: only nothing and `latest` mean the newest version. */
export function canBePinned({ launcher, loose }: LaunchedPackage): boolean {
  return launcher === 'npx' && (loose === '' || loose === 'latest');
}
