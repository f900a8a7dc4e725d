import type { ToolDeclaration } from '../tool/tool.ts';

/** Removes secrets from data that is stored or shown. The tool itself sees everything. */
export interface Redactor {
  /** Canonical JSON of a call's arguments, with secrets masked, cut for display. Returns the same text when it is short and has no secrets. */
  arguments(canonical: string, tool?: Pick<ToolDeclaration, 'inputSchema'>): string;
  /** Redacts free text: a command, an error, a log line. */
  text(text: string): string;
}
