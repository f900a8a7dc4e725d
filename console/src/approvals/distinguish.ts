import { isIdLike } from '../../../src/domain/call/call-filter.ts';
import type { ListedApprovalView } from '../api-types.ts';

const VALUE_LENGTH = 48;
const LINE_LENGTH = 120;

/** One line per question that distinguishes it from others of the same tool. Arguments whose values differ come first, then short ones. */
export function distinguish(approvals: readonly ListedApprovalView[]): ReadonlyMap<string, string> {
  const read = approvals.map(({ id, tool, arguments: { shown } }) => ({ id, tool, shown, members: membersOf(shown) }));
  const values = new Map<string, Set<string>>();
  for (const { tool, members = [] } of read) {
    for (const [name, value] of members) {
      const key = `${tool}\n${name}`;
      values.set(key, (values.get(key) ?? new Set()).add(value));
    }
  }
  const differs = (tool: string, name: string): number => Number((values.get(`${tool}\n${name}`)?.size ?? 0) > 1);
  return new Map(
    read.map(({ id, tool, shown, members }) => {
      if (members === undefined) return [id, cut(shown.replaceAll(/\s+/g, ' '), LINE_LENGTH)];
      const ordered = members.toSorted(
        ([one, short], [other, long]) => differs(tool, other) - differs(tool, one) || short.length - long.length,
      );
      const line = ordered.map(([name, value]) => `${name}: ${cut(value, VALUE_LENGTH)}`).join(', ');
      return [id, cut(line, LINE_LENGTH)];
    }),
  );
}

/** The members of the arguments. Undefined if the text is not a JSON object, for example because a list has cut long arguments. */
function membersOf(shown: string): (readonly [name: string, value: string])[] | undefined {
  try {
    const value: unknown = JSON.parse(shown);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.entries(value).map(([name, member]) => [
      name,
      (typeof member === 'string' ? member : JSON.stringify(member)).replaceAll(/\s+/g, ' '),
    ]);
  } catch {
    return undefined;
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** Whether a question matches a search: by its id or the id of its call, or by a part of the text in its row or its arguments. */
export function matchesQuestion(approval: ListedApprovalView, text: string): boolean {
  const wanted = text.trim();
  if (wanted === '' || isIdLike(approval.id, wanted) || isIdLike(approval.callId, wanted)) return true;
  const { tool, agent, subject, title, arguments: args } = approval;
  return [tool, agent, subject, title, args.shown].some((said) => said.toLowerCase().includes(wanted.toLowerCase()));
}
