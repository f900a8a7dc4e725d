import { NAME_PATTERN, splitToolId, type ToolId } from '../../domain/identity/ids.ts';
import { sha256 } from '../../base/sha256.ts';

const DIGEST_LENGTH = 16;
/** Max readable characters in a part of an id, next to `_` and the digest. */
const READABLE_LENGTH = 64 - 1 - DIGEST_LENGTH;
const MAPPED = new RegExp(`_[0-9a-f]{${DIGEST_LENGTH}}$`);

/**
 * The id by which rules, hooks, events and approvals know a tool. A name that is already an id stays as it is: `search`, `web.search`. Any
 * other name (`admin.tools.list`, `x/y`, 70 characters) keeps its module and the readable part of the rest, and gets a digest of the whole
 * name: `admin.tools_list_4c1b…`. The same name always gets the same id. A name that looks like a mapped id gets a digest, too. Otherwise a
 * tool could be named like the mapped id of another tool.
 */
export function toolIdOf(name: string): ToolId {
  return (isToolId(name) && !MAPPED.test(name) ? name : mapName(name)) as ToolId;
}

export function isToolId(text: string): boolean {
  return NAME_PATTERN.test(text) || splitToolId(text) !== undefined;
}

function mapName(name: string): string {
  const digest = sha256(name).slice(0, DIGEST_LENGTH);
  const dot = name.indexOf('.');
  const module = dot < 0 ? '' : name.slice(0, dot);
  const hasModule = NAME_PATTERN.test(module) && dot < name.length - 1;
  const readable = (hasModule ? name.slice(dot + 1) : name)
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .replaceAll(/^[_-]+|_+$/g, '')
    .slice(0, READABLE_LENGTH);
  const tool = `${readable === '' ? 'tool' : readable}_${digest}`;
  return hasModule ? `${module}.${tool}` : tool;
}
