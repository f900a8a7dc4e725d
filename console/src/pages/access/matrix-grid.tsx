import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Inert } from '../../components/inert.tsx';
import { offsetToShow, renderedIndexes, visibleSpan, type Axis } from './grid-window.ts';
import { moveCell, type Place } from './move-cell.ts';
import { cellOf, type Matrix } from './use-matrix.ts';
import { useViewport, type Viewport } from './use-viewport.ts';
import { VerdictMark } from './verdict-mark.tsx';

const ROW_HEIGHT = 36;
const HEAD_HEIGHT = 40;
const COLUMN_WIDTH = 116;
const NAME_WIDTH = { wide: 240, narrow: 132 };
const NARROW = 560;

export interface MatrixGridProps {
  readonly matrix: Matrix;
  /** The agents and tools that match the filters, in order. */
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  readonly onLook: (cell: { agent: string; tool: string }) => void;
  /** Called when a visible row has no cells yet because its page was not read. */
  readonly onMissing: () => void;
}

/**
 * Tools are rows, agents are columns. Only visible cells exist in the page, so two thousand tools by two hundred agents scroll as fast as
 * ten by five.
 */
export function MatrixGrid({ matrix, agents, tools, onLook, onMissing }: MatrixGridProps): VNode {
  const scroller = useRef<HTMLDivElement>(null);
  const view = useViewport(scroller);
  const [place, setPlace] = useState<Place>({ row: 0, column: 0 });
  const takesFocus = useRef(false);
  // Decided by the available room and not by the table's width, because a table with few agents is narrow even on a wide screen.
  const nameWidth = view.room < NARROW ? NAME_WIDTH.narrow : NAME_WIDTH.wide;
  const { rows, columns } = axesOf(view, nameWidth, tools.length, agents.length);
  const active = { row: Math.min(place.row, tools.length - 1), column: Math.min(place.column, agents.length - 1) };

  const look = (next: Place): void => {
    setPlace(next);
    const [agent, tool] = [agents[next.column], tools[next.row]];
    if (agent !== undefined && tool !== undefined) onLook({ agent, tool });
  };
  useEffect(() => setPlace({ row: 0, column: 0 }), [agents, tools]);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!takesFocus.current || box === null) return;
    takesFocus.current = false;
    box.scrollTop = offsetToShow(active.row, rows, HEAD_HEIGHT);
    box.scrollLeft = offsetToShow(active.column, columns, nameWidth);
    box.querySelector<HTMLElement>('[data-active]')?.focus({ preventScroll: true });
  }, [active.row, active.column]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((view.height - HEAD_HEIGHT) / ROW_HEIGHT) - 1);
    const next = moveCell(active, event, { rows: tools.length, columns: agents.length, page });
    if (next === undefined) return;
    event.preventDefault();
    takesFocus.current = true;
    look(next);
  };
  const shownRows = renderedIndexes(visibleSpan(rows), active.row, tools.length);
  const isMissing = shownRows.some((row) => !matrix.rows.has(tools[row] ?? ''));
  useEffect(() => {
    if (isMissing) onMissing();
  }, [isMissing, onMissing]);
  const shownColumns = renderedIndexes(visibleSpan(columns), active.column, agents.length);
  return (
    <div
      class="matrix"
      ref={scroller}
      role="grid"
      tabIndex={-1}
      aria-label="What agents may call"
      aria-rowcount={tools.length + 1}
      aria-colcount={agents.length + 1}
      aria-readonly="true"
      onKeyDown={onKeyDown}
    >
      <div
        class="matrix-sheet"
        role="presentation"
        style={{
          width: `${nameWidth + agents.length * COLUMN_WIDTH}px`,
          height: `${HEAD_HEIGHT + tools.length * ROW_HEIGHT}px`,
        }}
      >
        <div class="matrix-head" role="row" aria-rowindex={1} style={{ height: `${HEAD_HEIGHT}px` }}>
          <div class="matrix-corner" role="columnheader" aria-colindex={1} style={{ width: `${nameWidth}px` }}>
            Tool
          </div>
          {shownColumns.map((column) => (
            <div
              key={column}
              class="matrix-agent"
              role="columnheader"
              aria-colindex={column + 2}
              title={agents[column]}
              style={{ left: `${nameWidth + column * COLUMN_WIDTH}px`, width: `${COLUMN_WIDTH}px` }}
            >
              <Inert text={agents[column] ?? ''} />
            </div>
          ))}
        </div>
        {shownRows.map((row) => (
          <div
            key={row}
            class="matrix-row"
            role="row"
            aria-rowindex={row + 2}
            style={{ top: `${HEAD_HEIGHT + row * ROW_HEIGHT}px`, height: `${ROW_HEIGHT}px` }}
          >
            <div
              class="matrix-tool"
              role="rowheader"
              aria-colindex={1}
              title={tools[row]}
              style={{ width: `${nameWidth}px` }}
            >
              <Inert text={tools[row] ?? ''} />
            </div>
            {shownColumns.map((column) => {
              const isActive = row === active.row && column === active.column;
              const cell = cellOf(matrix, agents[column] ?? '', tools[row] ?? '');
              return (
                <div
                  key={column}
                  class="matrix-cell"
                  role="gridcell"
                  aria-colindex={column + 2}
                  tabIndex={isActive ? 0 : -1}
                  data-active={isActive ? '' : undefined}
                  style={{ left: `${nameWidth + column * COLUMN_WIDTH}px`, width: `${COLUMN_WIDTH}px` }}
                  onFocus={() => look({ row, column })}
                >
                  {cell === undefined ? '…' : <VerdictMark verdict={cell.verdict} />}
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}

function axesOf(
  view: Viewport,
  nameWidth: number,
  rowCount: number,
  columnCount: number,
): { rows: Axis; columns: Axis } {
  return {
    rows: { offset: view.top, length: view.height, itemSize: ROW_HEIGHT, count: rowCount },
    columns: { offset: view.left, length: view.width, itemSize: COLUMN_WIDTH, count: columnCount },
  };
}
