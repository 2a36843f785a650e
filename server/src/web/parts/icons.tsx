/** Icons. Each stands beside a word that says the same, and is hidden from screen readers. */
import type { ComponentChildren } from 'preact'

function Icon({ children, class: className }: { children: ComponentChildren; class?: string }) {
  return (
    <svg class={className ? `icon ${className}` : 'icon'} viewBox="0 0 16 16" aria-hidden="true">
      {children}
    </svg>
  )
}

export function Logo() {
  return (
    <Icon class="logo">
      <path d="M8 1 14 3.5v4c0 3.6-2.4 6.2-6 7.5-3.6-1.3-6-3.9-6-7.5v-4z" />
      <path d="m5.2 8 2 2 3.6-4" />
    </Icon>
  )
}

/** A shape for each verdict and one for queued claims, so that they differ without colour, too. */
export const MARKS = {
  verified: () => (
    <Icon>
      <circle cx="8" cy="8" r="6.5" />
      <path d="m5 8.2 2.1 2.1L11 6" />
    </Icon>
  ),
  late: () => (
    <Icon>
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 4.2V8l2.6 1.6" />
    </Icon>
  ),
  mismatch: () => (
    <Icon>
      <path d="M8 1.2 14.8 8 8 14.8 1.2 8z" />
      <path d="M5.4 6.8h5.2M5.4 9.2h5.2M9.4 5 6.6 11" />
    </Icon>
  ),
  failed: () => (
    <Icon>
      <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" />
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" />
    </Icon>
  ),
  unverifiable: () => (
    <Icon>
      <circle cx="8" cy="8" r="6.5" stroke-dasharray="2.2 1.9" />
      <path d="M6.2 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2" />
      <path d="M8 11.3v.1" />
    </Icon>
  ),
  queued: () => (
    <Icon>
      <path d="M4 1.8h8M4 14.2h8M5 2v2.4L8 8l3-3.6V2M5 14v-2.4L8 8l3 3.6V14" />
    </Icon>
  ),
} as const
