import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextArea } from '../../ui/field.tsx';

const BODY_COPIED = {
  title: 'Body copied to clipboard',
  description: 'The request body has been copied to your clipboard.',
};

interface BodyDialogProps {
  readonly text: string;
  readonly onApply: (text: string) => void;
  readonly onClose: () => void;
}

/** The body in a large editor. Changes apply on confirmation. */
export function BodyDialog({ text, onApply, onClose }: BodyDialogProps) {
  const [draft, setDraft] = useState(text);
  const apply = (): void => {
    onApply(draft);
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title="Edit Request Body"
      width="lg"
      footer={
        <>
          <CopyButton text={draft} label="Copy the body" toast={BODY_COPIED}>
            Copy
          </CopyButton>
          <Button className="ml-auto" onClick={onClose}>
            Close
          </Button>
          <Button variant="primary" onClick={apply}>
            Apply Changes
          </Button>
        </>
      }
    >
      <TextArea
        data-first-focus
        mono
        aria-label="Request body"
        spellCheck={false}
        value={draft}
        onChange={(input) => setDraft(input.target.value)}
        onKeyDown={(press) => {
          if (press.key === 'Enter' && (press.ctrlKey || press.metaKey)) {
            press.preventDefault();
            apply();
          }
        }}
        className="h-[60dvh] resize-none"
      />
    </Dialog>
  );
}
