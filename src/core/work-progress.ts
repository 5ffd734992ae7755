/** How much of a long piece of work is done. */
export type WorkProgress = { readonly done: number; readonly total: number };

export type OnProgress = (progress: WorkProgress) => void;
