import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Redactor } from '../../domain/ports/redactor.ts';
import type { ToolLogLine } from '../../domain/ports/tool-runner.ts';
import { canonicalJson } from '../../base/canonical-json.ts';

/** Redacts what a tool logs and throws. More people read these lines than read the arguments of the tool. */
export function redactLine(line: ToolLogLine, redactor: Redactor | undefined): ToolLogLine {
  if (redactor === undefined) return line;
  const message = redactor.text(line.message);
  return line.data === undefined ? { ...line, message } : { ...line, message, data: redactData(line.data, redactor) };
}

function redactData(data: JsonObject, redactor: Redactor): JsonObject {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, redactMember(name, value, redactor)]));
}

/** Redacts one member by its name and by its content. A long text is redacted by content only: redaction of arguments would also cut it. */
function redactMember(name: string, value: JsonValue, redactor: Redactor): JsonValue {
  const alone = canonicalJson({ [name]: value });
  if (typeof value === 'string' && alone.length > LONG) return redactor.text(value);
  const shown = redactor.arguments(alone);
  if (shown === alone) return value;
  try {
    return (JSON.parse(shown) as JsonObject)[name] ?? null;
  } catch {
    // The redacted text was cut and is not valid JSON any more.
    return shown;
  }
}

const LONG = 1000;
