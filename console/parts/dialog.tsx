import { useEffect, useRef } from 'react';

type Parts = {
  readonly title: string;
  readonly className?: string;
  readonly onClose: () => void;
  readonly children: React.ReactNode;
};

/** A dialog that is open as long as it is shown. Closing it returns the focus to where it came from. */
export function Dialog({ title, className = '', onClose, children }: Parts) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={className}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
