export interface Step {
  readonly place: string;
  readonly file: string;
  readonly name: string;
  readonly room: string;
}
export function roomOf(file: string): string;
export function readWalk(text: string, functions: readonly { file: string; name: string }[]): Step[];
export function onPath(steps: readonly Step[]): Step[];
export function measureWalk(
  steps: readonly Step[],
): Record<'files' | 'functions' | 'hops' | 'rooms' | 'roomChanges' | 'pathRoomChanges', number>;
