import { hash } from 'node:crypto';
import { entriesOf, type ModuleDeclaration } from './module.ts';
import type { ToolDeclaration } from './tool.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256, shortSha256 } from '../../base/sha256.ts';

/** Digest of the tool as callers see it. Limits, poll cadence, progress and cost concern only the worker and are not included. */
export function toolDigest(
  tool: Omit<ToolDeclaration, 'digest' | 'limits' | 'poll' | 'progress' | 'cost' | 'refusesUndeclared'>,
): string {
  return sha256(
    canonicalJson({
      id: tool.id,
      description: tool.description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema ?? null,
      effect: tool.effect,
      privileged: tool.privileged,
      serial: tool.serial,
      pinned: tool.pinned ?? null,
      // Included only where declared, so that other tools keep their previous digest.
      ...(tool.normalises === true ? { normalises: true } : {}),
      ...(tool.unreviewed === true ? { unreviewed: true } : {}),
      ...(tool.secrets === undefined ? {} : { secrets: tool.secrets }),
      ...(tool.surface === undefined ? {} : { surface: tool.surface }),
    }),
  );
}

/** Digest of a module. It does not depend on the order in which tools were loaded. */
export function moduleDigest(module: Omit<ModuleDeclaration, 'digest'>): string {
  const tools = entriesOf(module)
    .map((tool) => tool.digest)
    .sort();
  return sha256(canonicalJson({ id: module.id, version: module.version, pool: module.pool, tools }));
}

export function catalogDigest(modules: readonly ModuleDeclaration[]): string {
  return sha256(
    modules
      .map((module) => module.digest)
      .sort()
      .join('\n'),
  );
}

/** Digest of what a caller asks for under a key. The same key with a different body digest is a conflict. */
export function bodyDigest(tool: string, canonicalArguments: string, input?: string): string {
  // Canonical JSON contains no NUL, so tool, arguments and input cannot be confused with tool and longer arguments.
  const answers = input === undefined ? '' : `\0${input}`;
  return hash('sha256', `${tool}\0${canonicalArguments}${answers}`, 'base64url');
}

/** A digest that identifies a subject in ids and keys without containing its name. */
export function subjectScope(tenant: string, subject: string): string {
  return shortSha256(`${tenant.length}:${tenant}${subject}`, 12);
}

const DIGEST_SHAPE = /^[A-Za-z0-9_-]{22}$/;

/** A key that already has the form of a digest, as every generated key does, is used unchanged. */
export function keyDigest(key: string): string {
  return DIGEST_SHAPE.test(key) ? key : shortSha256(key, 22);
}

/** Number of characters in an id that identify the agents of its session. */
export const TAG_LENGTH = 8;
const KEY_LENGTH = 22 - TAG_LENGTH;

/**
 * Identifies agents without their text. SHA-1, because the functions of the Redis store compute it too (shared/session.lua) and can compute
 * no other hash.
 */
export function agentsTag(agents: readonly string[]): string {
  return hash('sha1', agents.join('\n'), 'base64url').slice(0, TAG_LENGTH);
}

/** The part of a call's id after the tag, for a key that does not begin with that tag. */
export function keyOfAgents(rest: string): string {
  return hash('sha1', rest, 'base64url').slice(0, KEY_LENGTH);
}

/** The lane in which all keys of a subject are stored, computed from its scope. */
export function laneOf(scope: string, lanes: number): number {
  return Number.parseInt(hash('sha256', scope, 'hex').slice(0, 8), 16) % lanes;
}
