/** A QR code as a picture in the page: nothing is loaded from elsewhere, and no script is needed. */

/** Rows of modules; true is dark. */
export type Matrix = readonly (readonly boolean[])[]

export async function matrixOf(text: string): Promise<Matrix> {
  // Loaded on first use: few pages show one.
  const { encode } = await import('uqr')
  return encode(text, { ecc: 'M', border: 4 }).data
}

export function QrCode({ matrix, label }: { readonly matrix: Matrix; readonly label: string }) {
  const size = matrix.length
  const dark = matrix.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
