import type { ToolDeclaration } from '../domain/tool.ts';

/** Takes secrets out of what is kept or shown. The tool itself sees everything. */
export interface Redactor {
  /** Canonical JSON of a call's arguments, secrets masked, cut for display. The same text when nothing in it is secret and it is short. */
  arguments(canonical: string, tool?: Pick<ToolDeclaration, 'inputSchema'>): string;
  /** Free text: a command, an error, a log line. */
  text(text: string): string;
}
