/** The stages of a call, in order. They name folders, spans, log fields, metric labels and error owners. */
export const STAGES = ['accept', 'admit', 'identify', 'gate', 'execute', 'settle', 'answer'] as const;
export type Stage = (typeof STAGES)[number];
