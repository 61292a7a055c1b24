import { Check, Choice, Lines } from '../parts/field.js';
import { EXTENTS, type Fault, faultIn, type FieldsDraft } from './shown-fields.js';

const WORDS = { all: 'all', except: 'all except these', only: 'only these' };

/** Chooses the fields that a service shows. */
export function FieldsSection({
  draft,
  onChange,
  faults,
  isDefault,
}: {
  draft: FieldsDraft;
  onChange: (part: Partial<FieldsDraft>) => void;
  faults: Fault[];
  /** It has no filter. */
  isDefault: boolean;
}) {
  const { extent, paths, hash, allowHiddenFilter } = draft;
  const ofBoth = faultIn(
    '',
    '/fields',
    faults.filter(({ pointer }) => pointer === '/fields'),
  );
  return (
    <>
      <h2>Fields</h2>
      <Choice
        label="It shows"
        value={extent}
        choices={EXTENTS}
        words={(one) => WORDS[one]}
        onChange={(one) => onChange({ extent: one })}
      />
      {extent !== 'all' && (
        <Lines
          label={extent === 'only' ? 'Only these fields' : 'Fields that it leaves out'}
          value={paths}
          fault={faultIn(paths, `/fields/${extent}`, faults) ?? ofBoth}
          onChange={(text) => onChange({ paths: text })}
          hint={
            <>
              One path in each line, such as <code>data.email</code>. A path leads through lists:{' '}
              <code>data.rows.price</code> is the price in each row. <code>createdBy</code> and{' '}
              <code>channels</code> are paths too. <code>id</code>, <code>type</code>, <code>createDate</code>{' '}
              and <code>lastupdated</code> always stay.
            </>
          }
        />
      )}
      <Lines
        label="Fields that it shows as a hash"
        value={hash}
        fault={faultIn(hash, '/hash', faults) ?? (extent === 'all' ? ofBoth : undefined)}
        onChange={(text) => onChange({ hash: text })}
        hint="One path in each line. Equal values have equal hashes within the application, so that copies can be joined without the value. The preview shows (hash) until the application has a key; saving makes one."
      />
      {!isDefault && (
        <Check
          label="The filter may name a hidden field"
          value={allowHiddenFilter}
          onChange={(isAllowed) => onChange({ allowHiddenFilter: isAllowed })}
          hint="Each record in the feed matches the filter, which then tells consumers something about the hidden value."
        />
      )}
    </>
  );
}
