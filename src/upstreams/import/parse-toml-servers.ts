import { parse, TomlError } from 'smol-toml';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { SETTING_MEMBERS, type ParseClientFile, type ServerGroup } from './parsed-client-file.ts';
import { placesIn } from './text-place.ts';
import { tomlStatements } from './toml-statements.ts';

const CODEX_GROUP: ServerGroup = { path: ['mcp_servers'], shape: 'codex' };

/** Parses the configuration of Codex and finds its tables `[mcp_servers.NAME]`. */
export function parseTomlServers(text: string): ParseClientFile {
  let root: Record<string, unknown>;
  try {
    root = parse(text, { maxDepth: 100 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [first = ''] = error.message.split('\n');
    const words = first.replace(/^Invalid TOML document: /, '');
    return { kind: 'problem', problem: `it is not TOML: ${words}`, line: error.line, column: error.column };
  }
  const [member] = CODEX_GROUP.path;
  const group = root[member!];
  if (group === undefined) return parsed([]);
  const placeOf = placesIn(text);
  const statements = tomlStatements(text).filter(({ path }) => path[0] === member);
  const lineOf = (name?: string): number => {
    const found = statements.find(({ path }) => name === undefined || path[1] === name) ?? statements[0];
    return placeOf(found?.start ?? 0).line;
  };
  const settingLinesOf = (name: string): Map<string, number> =>
    new Map(
      statements.flatMap(({ path, start }) => {
        const isSetting = path.length === 4 && path[1] === name && SETTING_MEMBERS.includes(path[2]!);
        return isSetting ? [[path[3]!, placeOf(start).line]] : [];
      }),
    );
  if (!isJsonObject(group)) {
    return { kind: 'problem', problem: 'mcp_servers is not a table', line: lineOf(), column: 1 };
  }
  return parsed(
    Object.entries(group).map(([name, value]) => ({
      name,
      group: CODEX_GROUP,
      line: lineOf(name),
      settingLines: settingLinesOf(name),
      value: value as JsonValue,
    })),
  );
}

function parsed(servers: Extract<ParseClientFile, { kind: 'parsed' }>['file']['servers']): ParseClientFile {
  return { kind: 'parsed', file: { format: 'toml', servers, inputs: [], warnings: [] } };
}
