/** How much of a long piece of work is done. */
export type Progress = { readonly done: number; readonly total: number };

export type OnProgress = (progress: Progress) => void;
