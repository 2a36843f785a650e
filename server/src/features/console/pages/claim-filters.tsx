/** The search and the filters of the claim list: one field in view, the others folded until one of them is used. */
import { VERDICTS } from '@claimcheck/core/rules'
import { paths } from '../../../web/console-paths.ts'
import { defaultSpan, type ListQuery, listPath } from '../claims/list-query.ts'
import { Field, Select } from '../parts/form.tsx'

interface FiltersProps {
  readonly workspaceId: string
  readonly query: ListQuery
  readonly actions: readonly string[]
  /** What people call an action; undefined where no loaded plugin checks it. */
  readonly titleOf: (action: string) => string | undefined
}

export function Filters({ workspaceId, query: { filter, span }, actions, titleOf }: FiltersProps) {
  const { search, ...folded } = filter
  const { verdict, state, action, agentId, target, from, to } = folded
  const listed = action === undefined || actions.includes(action) ? actions : [...actions, action]
  const named = (name: string) => {
    const title = titleOf(name)
    return [name, title === undefined ? name : `${title} (${name})`] as const
  }
  const count = Object.keys(folded).length
  return (
    <search>
      <form method="get" action={paths.claims(workspaceId)} class="filters">
        <div class="search-line">
          <label class="spoken" for="q">
            Search claims by target, agent, params or ID
          </label>
          <input
            id="q"
            name="q"
            type="search"
            value={search}
            placeholder="Search target, agent, params, ID"
            autocomplete="off"
            spellcheck={false}
          />
          <button type="submit" class="quiet">
            Search
          </button>
        </div>
        <details id="filters" open={count > 0}>
          <summary>{count > 0 ? `Filters (${count})` : 'Filters'}</summary>
          <div class="inline">
            {span === defaultSpan(filter) ? null : <input type="hidden" name="span" value={span} />}
            <Select name="verdict" label="Verdict" options={choices(VERDICTS)} value={verdict} />
            <Select name="state" label="State" options={choices(['queued', 'decided'])} value={state} />
            <Select name="action" label="Action" options={[['', 'Any'], ...listed.map(named)]} value={action} />
            <Field name="agent_id" label="Agent" value={agentId} autocomplete="off" spellcheck={false} />
            {target === undefined ? null : (
              <Field name="target" label="Exact target" value={target} autocomplete="off" spellcheck={false} />
            )}
            <Field name="from" label="From day (UTC)" type="date" value={from} />
            <Field name="to" label="To day (UTC)" type="date" value={to} />
            <button type="submit" class="quiet">
              Filter
            </button>
          </div>
        </details>
        {Object.keys(filter).length > 0 ? <a href={listPath(workspaceId, { span })}>Clear the filters</a> : null}
      </form>
    </search>
  )
}

function choices(values: readonly string[]): (readonly [string, string])[] {
  return [['', 'Any'], ...values.map((value) => [value, value] as const)]
}
