/** Tables, which scroll when they are too wide, and notes where a list is empty. */
import { type ComponentChildren, cloneElement, isValidElement, toChildArray, type VNode } from 'preact'

interface TableProps {
  /** Read by screen readers. */
  readonly label: string
  readonly head: readonly string[]
  /** On a narrow screen each row is a block, so that its buttons are on the screen. Its cells are written in the row itself. */
  readonly stacks?: boolean
  readonly children: ComponentChildren
}

export function Table({ label, head, stacks = false, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must scroll by keyboard too
    <section class={stacks ? 'table stacks' : 'table'} aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((text) => (
              <th scope="col">{text}</th>
            ))}
          </tr>
        </thead>
        <tbody>{stacks ? toChildArray(children).map((row) => withLabels(row, head)) : children}</tbody>
      </table>
    </section>
  )
}

/** The style shows each label where the head of the table is not to be seen. */
function withLabels(row: ComponentChildren, head: readonly string[]): ComponentChildren {
  if (!isValidElement(row)) return row
  const cells = toChildArray((row as VNode).props.children).map((cell, index) =>
    isValidElement(cell) ? cloneElement(cell, { 'data-label': head[index] } as object) : cell,
  )
  return cloneElement(row, {}, cells)
}

export function Empty({ heading, children }: { readonly heading: string; readonly children: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{heading}</h2>
      {children}
    </section>
  )
}
