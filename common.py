def sub(p, pairs):
    s=open(p).read()
    for a,b in pairs:
        assert a in s, (p,a)
        s=s.replace(a,b,1)
    open(p,'w').write(s)
sub('src/model/model.h',[('''    sn_settings *settings; /* as fitted */
''','''    sn_settings *common;   /* sn_common_params as they were asked for */
    sn_settings *settings; /* as fitted */
''')])
sub('src/model/fit.c',[('''    SN_TRY(sn_settings_copy(spec->settings, &model->settings));
    sn_enc''','''    SN_TRY(sn_settings_copy(spec->common, &model->common));
    SN_TRY(sn_settings_copy(spec->settings, &model->settings));
    sn_enc'''),('''    sn_settings_free(model->settings);
''','''    sn_settings_free(model->common);
    sn_settings_free(model->settings);
''')])
s=open('src/model/spec.c').read()
i=s.index('static stonet_status fill_from_model'); j=s.index('stonet_status stonet_model_spec(')
s=s[:i]+'''/* Replaces settings by a copy of others. */
static stonet_status take_settings(const sn_settings *from, sn_settings **to)
{
    sn_settings *copy = NULL;
    SN_TRY(sn_settings_copy(from, &copy));
    sn_settings_free(*to);
    *to = copy;
    return STONET_OK;
}

static stonet_status fill_from_model(const stonet_model *model, stonet_spec *spec)
{
    SN_TRY(take_settings(model->common, &spec->common));
    SN_TRY(take_settings(model->settings, &spec->settings));
    /* What the target was taken for stays so, whichever rows are fitted. */
    if (sn_schema_outputs(model->schema) > 0)
        SN_TRY(stonet_spec_set(spec, "task",
                               sn_words_name(&sn_task_words, (int)sn_schema_task(model->schema))));
    if (model->learner == NULL)
        return stonet_spec_set(spec, "learner", model->method->predict != NULL ? "auto" : "none");
    SN_TRY(stonet_spec_set(spec, "learner", model->learner->name));
    return take_settings(model->learner_settings, &spec->learner_settings);
}

'''+s[j:]
s=s.replace('#include <stdio.h>\n#include <string.h>','#include <string.h>')
open('src/model/spec.c','w').write(s)
sub('src/model/file.c',[('''    SN_TRY(put_settings(store, "stonet.settings", model->settings));
''','''    SN_TRY(put_settings(store, "stonet.common_settings", model->common));
    SN_TRY(put_settings(store, "stonet.settings", model->settings));
'''),
('''static stonet_status get_learner(''','''/* Files of 0.1 do not have them: what the fit arrived at stands for what was asked for. */
static stonet_status get_common(const sn_store *store, stonet_model *model)
{
    static const char KEY[] = "stonet.common_settings";
    if (sn_store_find_text(store, KEY) != NULL)
        return get_settings(store, KEY, sn_common_params, sn_common_param_count, &model->common);
    char dim[24];
    snprintf(dim, sizeof dim, "%" PRId64, model->dim);
    SN_TRY(sn_settings_create(sn_common_params, sn_common_param_count, &model->common));
    SN_TRY(sn_settings_set(model->common, "dim", dim));
    return sn_settings_set(model->common, "scale",
                           sn_words_name(&sn_scale_words, (int)sn_schema_scale(model->schema)));
}

static stonet_status get_learner('''),
('''    SN_TRY(sn_schema_load(store, &model->schema));
''','''    SN_TRY(sn_schema_load(store, &model->schema));
    SN_TRY(get_common(store, model));
'''),
])
sub('docs/model-file.md',[('''| `stonet.settings` |''','''| `stonet.common_settings` | the settings that all methods have (`dim`, `task`, `scale`, ..), as they were asked for, a JSON object; not in files of 0.1 |
| `stonet.settings` |''')])
