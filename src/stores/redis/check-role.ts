import { planeError } from '../../domain/errors/errors.ts';
import { functionsOf, ROLES, type Role } from './acl-roles.ts';
import { mastersOf, sendCommand, toPlaneError, userOf, type Connection } from './connection.ts';
import { functionName, readFunctions } from './function-library.ts';

/** Max functions that the error names; one is enough to see what is wrong. */
const NAMED = 3;
/**
 * How similar the user's functions must be to those of a role, so that the error names this role: the number of common functions divided by
 * the number of functions that the user or the role has.
 */
const LIKENESS = 0.5;

/**
 * Throws STORE_ROLE when the user may not call a function that this role calls. Calls none of them: it asks the server what it would allow. If the
 * server or the user's rights give no answer, the check passes; a missing right then shows when it is needed.
 */
export async function checkRole(connection: Connection, name: string, expected: Role): Promise<void> {
  const user = userOf(connection);
  const allowed = await allowedFunctions(connection, name, user);
  if (allowed === undefined) return;
  const missing = functionsOf(expected).filter((wanted) => !allowed.has(wanted));
  if (missing.length === 0) return;
  throw planeError('STORE_ROLE', {
    user,
    expected,
    found: roleOf(user, name, allowed),
    missing: missing.slice(0, NAMED).map(functionName),
  });
}

async function allowedFunctions(connection: Connection, name: string, user: string): Promise<Set<string> | undefined> {
  const node = mastersOf(connection)[0];
  if (node === undefined) return undefined;
  const functions = [...readFunctions().values()];
  try {
    const answers = await Promise.all(
      functions.map(({ name: called, flags }) => {
        const command = flags.includes('no-writes') ? 'FCALL_RO' : 'FCALL';
        return sendCommand(node, 'ACL', ['DRYRUN', user, command, functionName(called), '1', `{${name}:0}:meta`]);
      }),
    );
    return new Set(functions.flatMap(({ name: called }, index) => (answers[index] === 'OK' ? [called] : [])));
  } catch (error) {
    const plane = toPlaneError(error);
    if (plane.code === 'STORE_UNAVAILABLE') throw plane;
    return undefined;
  }
}

/** Names the role of a user: by the user's name if it is `<deployment>-<role>`, otherwise by the functions it may call. */
function roleOf(user: string, name: string, allowed: ReadonlySet<string>): string {
  const named = ROLES.find((role) => user === `${name}-${role}`);
  if (named !== undefined) return `the role ${named}`;
  const [closest] = ROLES.map((role) => ({ role, likeness: likenessOf(new Set(functionsOf(role)), allowed) })).toSorted(
    (one, other) => other.likeness - one.likeness,
  );
  return closest !== undefined && closest.likeness >= LIKENESS ? `the role ${closest.role}` : 'no role';
}

function likenessOf(role: ReadonlySet<string>, allowed: ReadonlySet<string>): number {
  const common = [...role].filter((called) => allowed.has(called)).length;
  return common / (role.size + allowed.size - common);
}
