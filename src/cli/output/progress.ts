import { printable } from './line.ts';

/** The current work; a bar is drawn once the total is known. */
export type Step = { readonly label: string; readonly done?: number; readonly total?: number };

/** Shows progress. Nothing appears for work that ends quickly. */
export type Progress = {
  readonly show: (step: Step) => void;
  readonly stop: () => void;
};

type ProgressTarget = {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly isSilent: boolean;
};

const FIRST_SHOWN_MS = 300;
const REDRAW_MS = 80;
/** Without a terminal, a line is printed now and then instead of an animation. */
const NEXT_LINE_MS = 5_000;
const BAR_CELLS = 24;
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const CLEAR_LINE = '\r\u001b[K';

export function progressDisplay(target: ProgressTarget): Progress {
  let step: Step | undefined;
  let timer: NodeJS.Timeout | undefined;
  let drawings = 0;

  const draw = () => {
    if (step === undefined) return;
    const picture = target.isTerminal ? `${CLEAR_LINE}${pictureOf(step, drawings)}` : `${plainLineOf(step)}\n`;
    target.write(picture);
    drawings += 1;
  };
  const start = () => {
    draw();
    timer = setInterval(draw, target.isTerminal ? REDRAW_MS : NEXT_LINE_MS).unref();
  };
  return {
    show: (next) => {
      step = next;
      if (!target.isSilent) timer ??= setTimeout(start, FIRST_SHOWN_MS).unref();
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
      step = undefined;
      if (target.isTerminal && drawings > 0) target.write(CLEAR_LINE);
      drawings = 0;
    },
  };
}

function pictureOf(step: Step, drawings: number): string {
  const { label, done = 0, total } = step;
  if (total === undefined) return `${SPINNER[drawings % SPINNER.length]} ${printable(label)}`;
  const full = total === 0 ? BAR_CELLS : Math.floor((BAR_CELLS * done) / total);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${done}/${total} ${printable(label)}`;
}

function plainLineOf({ label, done = 0, total }: Step): string {
  return total === undefined ? `${printable(label)} …` : `${printable(label)}: ${done} of ${total}`;
}
