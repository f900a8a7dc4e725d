import { isDeepStrictEqual } from 'node:util';
import type { ClientServer, Connection } from './client-server.ts';

const MAX_LENGTH = 64;
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** One server, at all places where the clients list it. */
export interface DistinctServer {
  readonly id: string;
  /** The first place, whose text counts, and then the places of the same server. */
  readonly entries: readonly [ClientServer, ...ClientServer[]];
  /** Says why the id is not the name. */
  readonly idRemark?: string;
}

/** Gives every server an id. Servers of the same name and with the same connection are one; a different one gets a suffix. */
export function chooseIds(servers: readonly ClientServer[]): DistinctServer[] {
  const chosen: { name: string; id: string; entries: [ClientServer, ...ClientServer[]]; idRemark?: string }[] = [];
  for (const server of servers) {
    const { name } = server.place;
    const same = chosen.find((one) => one.name === name && isSame(one.entries[0], server));
    if (same !== undefined) {
      same.entries.push(server);
      continue;
    }
    const wanted = idFrom(name);
    const id = freeId(wanted, (candidate) => chosen.some((one) => one.id === candidate));
    const idRemark = remarkOn(name, wanted, id);
    chosen.push({ name, id, entries: [server], ...(idRemark === undefined ? {} : { idRemark }) });
  }
  return chosen;
}

function remarkOn(name: string, wanted: string, id: string): string | undefined {
  if (id !== wanted) return `another server has the id ${wanted}`;
  return id === name ? undefined : `its name ${JSON.stringify(name)} cannot be an id`;
}

/** The id with the first number behind it that is free, if the id itself is taken. */
export function freeId(id: string, isTaken: (candidate: string) => boolean): string {
  let free = id;
  for (let count = 2; isTaken(free); count += 1) free = `${id.slice(0, MAX_LENGTH - 8)}-${count}`;
  return free;
}

function idFrom(name: string): string {
  if (ID.test(name)) return name;
  const id = name
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, MAX_LENGTH);
  return ID.test(id) ? id : 'server';
}

function isSame(one: ClientServer, other: ClientServer): boolean {
  // Variables of the project mean another folder in each file.
  const isOfFolder = (server: ClientServer): boolean => textsOf(server.connection).includes('${workspaceFolder');
  if (isOfFolder(one) && one.place.file.path !== other.place.file.path) return false;
  return isDeepStrictEqual(one.connection, other.connection);
}

function textsOf(connection: Connection): string {
  const { kind, ...members } = connection;
  const settings = kind === 'local' ? connection.env : connection.headers;
  return JSON.stringify([members, ...settings.values()]);
}
