export function instrument(
  file: string,
  code: string,
  tracer: string,
  functions: { file: string; name: string }[],
): string;
