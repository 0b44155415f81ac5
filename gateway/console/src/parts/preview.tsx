import type { TemplateComponent } from '../api/types';
import { fillText } from '../template';

/** A message as a phone shows it. */
export const TextPreview = ({ text }: { text: string }) => (
  <div className="phone" role="img" aria-label={`Preview: ${text}`}>
    <div className="bubble own">{text || ' '}</div>
  </div>
);

interface TemplatePreviewProps {
  components: readonly TemplateComponent[];
  values?: Record<string, string>;
}

export function TemplatePreview({ components, values = {} }: TemplatePreviewProps) {
  const part = (type: string): TemplateComponent | undefined =>
    components.find((component) => component.type === type);
  const header = part('HEADER');
  const body = fillText(part('BODY')?.text ?? '', values);
  return (
    <div className="phone" role="group" aria-label="Preview">
      <div className="bubble own">
        {header && (
          <strong>
            {header.text
              ? fillText(header.text, values, 'header_')
              : `[${(header.format ?? 'file').toLowerCase()}]`}
          </strong>
        )}
        {header && '\n'}
        {body}
        {part('FOOTER') && <small>{`\n${part('FOOTER')?.text ?? ''}`}</small>}
      </div>
      {(part('BUTTONS')?.buttons ?? []).map(({ text }) => (
        <div key={text} className="bubble-button">
          {text}
        </div>
      ))}
    </div>
  );
}
