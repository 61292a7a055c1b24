import { ValidateBy, type ValidationError } from 'class-validator';

/** What is wrong at a place inside a property; the pointer begins at the property. */
export interface InputFault {
  pointer: string;
  detail: string;
}

const NAME = 'checkedBy';

/** Validates a property by a function that also knows where inside it something is wrong. */
export function CheckedBy(faultsIn: (value: unknown) => InputFault[]): PropertyDecorator {
  return ValidateBy(
    {
      name: NAME,
      validator: { validate: (value) => faultsIn(value).length === 0, defaultMessage: () => 'is not valid' },
    },
    { context: { faultsIn } },
  );
}

/** The faults behind an error of {@link CheckedBy}; nothing for errors of other rules. */
export function faultsOf(error: ValidationError): InputFault[] | undefined {
  const context = error.contexts?.[NAME] as { faultsIn: (value: unknown) => InputFault[] } | undefined;
  return context?.faultsIn(error.value);
}
