/** The comparison of the claimed and the found values: one row for each field. */
import type { JsonValue } from '@claimcheck/core/rules'
import { visible } from '@claimcheck/core/words/plain-text'
import { written } from '../../base/schema-properties.ts'
import type { ComparedField } from '../receipt-view/comparison.ts'
import { MARKS } from './icons.tsx'

interface ComparisonProps {
  readonly fields: readonly ComparedField[]
  /** Tells whether a field was looked for and not found. */
  readonly isMissing?: (name: string) => boolean
}

export function Comparison({ fields, isMissing = () => false }: ComparisonProps) {
  return (
    <table class="comparison">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Claimed</th>
          <th scope="col">Found</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, title, factTitle, claimed, found, differs }) => (
          <tr class={differs ? 'differs' : undefined}>
            <th scope="row" title={name === title ? undefined : visible(name)}>
              {visible(title)}
            </th>
            <td data-label="Claimed">
              <Value value={claimed} none="–" />
            </td>
            <td data-label="Found" title={factTitle && visible(factTitle)}>
              <Value value={found} none={isMissing(name) ? 'not there' : '–'} />
              {differs && <Differs />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Value({ value, none }: { value: JsonValue | undefined; none: string }) {
  return value === undefined ? <span class="none">{none}</span> : <code>{visible(written(value))}</code>
}

function Differs() {
  return (
    <>
      {' '}
      <span class="verdict mismatch">
        <MARKS.mismatch /> differs
      </span>
    </>
  )
}
