import { runProgram } from '../../base/run-program.ts';
import { isExactVersion } from './find-package.ts';

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** What npm needs of the environment: where programs are, whose settings count, and how to reach the registry. */
const PASSED_ON =
  /^(?:path|home|userprofile|appdata|systemroot|temp|tmp|lang|(?:https?|no|all)_proxy|npm_config_.*|node_extra_ca_certs)$/i;

/**
 * Asks npm for the newest version of a package; undefined if there is no answer. The name must have the form of a package's name. npm runs
 * in the home folder: in a project folder it would obey an `.npmrc` that may be another person's work.
 */
export async function findNpmVersion(
  name: string,
  { home, env }: { readonly home: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string | undefined> {
  const passedOn = Object.entries(env).flatMap(([key, value]) =>
    PASSED_ON.test(key) && value !== undefined ? [[key, value] as const] : [],
  );
  const ending = await runProgram({
    command: ['npm', 'view', name, 'version'],
    cwd: home,
    env: Object.fromEntries(passedOn),
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (ending.kind !== 'exited' || ending.exitCode !== 0) return undefined;
  const version = ending.stdout.toString('utf8').trim();
  return isExactVersion(version) ? version : undefined;
}
