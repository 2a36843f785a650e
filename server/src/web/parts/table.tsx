/** Tables, which scroll when they are too wide, and notes where a list is empty. */
import type { ComponentChildren } from 'preact'

interface TableProps {
  /** For screen readers. */
  readonly label: string
  readonly head: readonly string[]
  readonly children: ComponentChildren
}

export function Table({ label, head, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must scroll by keyboard too
    <section class="table" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((text) => (
              <th scope="col">{text}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

export function Empty({ heading, children }: { readonly heading: string; readonly children: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{heading}</h2>
      {children}
    </section>
  )
}
