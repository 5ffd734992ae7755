import { choices, choose, useChosen } from '../state/looks.ts';
import { notice } from '../state/told.ts';
import { Button, Select } from './panels.tsx';

/** How the console looks in this browser. */
export function LookChoice({ name, label }: { readonly name: 'theme' | 'density'; readonly label: string }) {
  const options = Object.fromEntries(choices(name).map((one) => [one, one]));
  return (
    <Select label={label} value={useChosen(name)} options={options} onPick={(one) => choose(name, one as never)} />
  );
}

/** The system shows a notice when something begins to wait, if the user wants that. */
export function NotifyButton() {
  const isOn = useChosen('notify') === 'on';
  const turn = async () => {
    const isAllowed = isOn || (await Notification.requestPermission()) === 'granted';
    choose('notify', isAllowed && !isOn ? 'on' : 'off');
    if (!isAllowed) notice.set({ words: 'The browser does not allow notifications of this page.' });
  };
  return (
    <Button
      label={isOn ? 'You are notified' : 'Notify me'}
      className="quiet"
      aria-pressed={isOn}
      onClick={() => void turn()}
    />
  );
}
