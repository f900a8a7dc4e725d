import type { Config } from '../config/config-schema.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { TelemetryOptions } from '../observe/telemetry.ts';

/** The telemetry options in the configuration. `headers` is the content of the headers file, which the caller reads. */
export function telemetryOptionsOf({ telemetry }: Config, headers?: string): TelemetryOptions {
  const { traces, metrics } = telemetry;
  const { endpoint, sampleRatio, serviceName } = traces;
  return {
    ...(traces.enabled ? { traces: { endpoint, sampleRatio, serviceName, headers: readHeaders(headers ?? '') } } : {}),
    ...(metrics.enabled ? { metrics: { tools: metrics.tools } } : {}),
  };
}

const HEADER = /^([A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}):[ \t]*([\x20-\x7e]{1,4096}?)[ \t]*$/;

/** Reads one header per line. An invalid line is reported by its number only, because it contains a secret. */
function readHeaders(content: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const match = HEADER.exec(line);
    if (match === null) {
      throw planeError('CONFIG_INVALID', {
        problems: [`telemetry.traces.headersFile: line ${index + 1} is no header`],
      });
    }
    headers[match[1]!] = match[2]!;
  }
  return headers;
}
