import { Anchor, Button, createTheme, type MantineColorsTuple } from '@mantine/core';
import { FocusableButton } from './parts/focusable-button';

const teal: MantineColorsTuple = [
  '#e3fafc',
  '#c5f1f5',
  '#94dfe7',
  '#5fcbd8',
  '#38b5c4',
  '#1b9aab',
  '#0f8394',
  '#0b6e7d',
  '#095a66',
  '#063f48',
];

export const theme = createTheme({
  colors: { teal },
  primaryColor: 'teal',
  primaryShade: 7,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, monospace',
  headings: { fontWeight: '650' },
  components: {
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    // The type of the defaults does not name the element.
    Button: Button.extend({ defaultProps: { component: FocusableButton } as never }),
  },
});
