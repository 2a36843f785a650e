/** A search with filters: one field in view, the others folded until one of them is used. */
import type { ComponentChildren } from 'preact'
import { Field } from './form.tsx'

interface SearchFormProps {
  readonly action: string
  readonly label: string
  readonly placeholder: string
  readonly value: string | undefined
  /** The number of folded filters that are set. */
  readonly count: number
  readonly from: string | undefined
  readonly to: string | undefined
  /** The path of the list without filters; undefined while none is set. */
  readonly clear: string | undefined
  /** The filters that stand before those of days. */
  readonly children: ComponentChildren
}

export function SearchForm(props: SearchFormProps) {
  const { action, label, placeholder, value, count, from, to, clear, children } = props
  return (
    <search>
      <form method="get" action={action} class="filters">
        <SearchLine label={label} placeholder={placeholder} value={value} />
        <details id="filters" open={count > 0}>
          <summary>{count > 0 ? `Filters (${count})` : 'Filters'}</summary>
          <div class="inline">
            {children}
            <Field name="from" label="From day (UTC)" type="date" value={from} />
            <Field name="to" label="To day (UTC)" type="date" value={to} />
            <button type="submit" class="quiet">
              Filter
            </button>
          </div>
        </details>
        {clear !== undefined && <a href={clear}>Clear the filters</a>}
      </form>
    </search>
  )
}

/** The field of a search, with its button. */
export function SearchLine({ label, placeholder, value }: Pick<SearchFormProps, 'label' | 'placeholder' | 'value'>) {
  return (
    <div class="search-line">
      <label class="spoken" for="q">
        {label}
      </label>
      <input
        id="q"
        name="q"
        type="search"
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
      />
      <button type="submit" class="quiet">
        Search
      </button>
    </div>
  )
}
