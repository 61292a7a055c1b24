import { type ReactNode, useId } from 'react';

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  type?: string;
  isRequired?: boolean;
  autoComplete?: string;
}

/** A line of text with its label, and a hint that screen readers read with it. */
export function Field({ label, value, onChange, hint, type = 'text', isRequired, autoComplete }: Props) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={value}
        required={isRequired}
        autoComplete={autoComplete ?? 'off'}
        spellCheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && (
        <small id={`${id}-hint`} className="faint">
          {hint}
        </small>
      )}
    </div>
  );
}

/** One of several values. */
export function Choice<C extends string>({
  label,
  value,
  choices,
  onChange,
  words = (choice) => choice,
}: {
  label: string;
  value: C;
  choices: readonly C[];
  onChange: (value: C) => void;
  words?: (choice: C) => string;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value as C)}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {words(choice)}
          </option>
        ))}
      </select>
    </div>
  );
}
