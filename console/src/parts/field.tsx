import { type ReactNode, useId } from 'react';

const LEAST_ROWS = 3;
const MOST_ROWS = 12;

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  type?: string;
  isRequired?: boolean;
  autoComplete?: string;
  /** What the service finds wrong in it. */
  fault?: string | undefined;
}

/** A line of text with its label, and a hint that screen readers read with it. */
export function Field({
  label,
  value,
  onChange,
  hint,
  type = 'text',
  isRequired,
  autoComplete,
  fault,
}: Props) {
  const id = useId();
  const about = [
    ...(fault === undefined ? [] : [`${id}-fault`]),
    ...(hint === undefined ? [] : [`${id}-hint`]),
  ];
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
        aria-describedby={about.length === 0 ? undefined : about.join(' ')}
        aria-invalid={fault === undefined ? undefined : true}
        onChange={(event) => onChange(event.target.value)}
      />
      {fault !== undefined && (
        <small id={`${id}-fault`} className="fault" role="alert">
          {fault}
        </small>
      )}
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

/** Several lines of text, with a hint, and with what the service finds wrong in them. */
export function Lines({
  label,
  value,
  onChange,
  hint,
  fault,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint: ReactNode;
  fault: string | undefined;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        value={value}
        rows={Math.min(MOST_ROWS, Math.max(LEAST_ROWS, value.split('\n').length))}
        autoCapitalize="off"
        autoComplete="off"
        spellCheck={false}
        aria-describedby={`${id}-fault ${id}-hint`}
        aria-invalid={fault !== undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      <small id={`${id}-fault`} className="fault" role="status">
        {fault}
      </small>
      <small id={`${id}-hint`} className="faint">
        {hint}
      </small>
    </div>
  );
}

/** Yes or no, with why it matters. */
export function Check({
  label,
  value,
  onChange,
  hint,
}: {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
  hint?: string | undefined;
}) {
  const id = useId();
  return (
    <div className="field">
      <label className="check">
        <input
          type="checkbox"
          checked={value}
          aria-describedby={hint === undefined ? undefined : id}
          onChange={(event) => onChange(event.target.checked)}
        />
        {label}
      </label>
      {hint !== undefined && (
        <small id={id} className="faint">
          {hint}
        </small>
      )}
    </div>
  );
}
